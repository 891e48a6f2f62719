/** What a form needs of the dock. */
export interface Docked {
  /** Whether this key, pressed on the dialog itself, may answer. */
  readonly mayAnswer: (event: KeyboardEvent) => boolean;
  /** This page gave the answer. */
  readonly answered: () => void;
}
