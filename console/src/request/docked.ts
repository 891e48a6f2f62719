/** What a form needs of the dock. */
export interface Docked {
  /** Clicks and keys may answer; false just after the request appeared. */
  readonly armed: boolean;
  /** Whether this key, pressed on the dialog itself, may answer. */
  readonly mayAnswer: (event: KeyboardEvent) => boolean;
  /** This page gave the answer. */
  readonly answered: () => void;
}
