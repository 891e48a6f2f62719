/**
 * When a control may decide. It must have stood in the same place, in sight, with the same meaning, for one second: nobody decides
 * by a second tap on something that has just appeared, moved or become something else. Pure: places and times are arguments.
 */

/** Milliseconds that a deciding control must have stood still. */
export const ARMING_MS = 1000;

/** Pixels that a control may shift without having moved: fractions are rounded differently at each layout. */
const STILL = 2;

/** Milliseconds without a look after which nobody knows whether it stood still: the page was asleep or busy. */
const UNWATCHED_MS = 700;

export interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const isStill = (one: Place, other: Place) =>
  (["left", "top", "width", "height"] as const).every((side) => Math.abs(one[side] - other[side]) <= STILL);

export class Arming {
  /** Where it stood when its second began: compared with the look before, a slow move would be none. */
  private place: Place | undefined;
  private meaning: string | undefined;
  private since = Number.POSITIVE_INFINITY;
  private looked = Number.NEGATIVE_INFINITY;

  /** Take how the control stands now, in pixels of the window; true when it may decide. `place` is undefined while it is out of sight. */
  observe(place: Place | undefined, meaning: string, now: number): boolean {
    const unwatched = now - this.looked > UNWATCHED_MS;
    this.looked = now;
    if (place === undefined) {
      this.place = undefined;
      this.since = Number.POSITIVE_INFINITY;
    } else if (this.place === undefined || unwatched || meaning !== this.meaning || !isStill(place, this.place)) {
      this.place = place;
      this.since = now;
    }
    this.meaning = meaning;
    return now - this.since >= ARMING_MS;
  }
}
