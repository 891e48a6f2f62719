/**
 * When a control may decide. It must have stood in the same place, with the same meaning, for one second: nobody decides by a
 * second tap on something that has just appeared, moved or become something else. Pure: places and times are arguments.
 */

/** Milliseconds that a deciding control must have stood still. */
export const ARMING_MS = 1000;

/** Pixels that a control may shift without having moved: fractions are rounded differently at each layout. */
const STILL = 2;

export interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const isStill = (one: Place, other: Place) =>
  (["left", "top", "width", "height"] as const).every((side) => Math.abs(one[side] - other[side]) <= STILL);

export class Arming {
  private place: Place | undefined;
  private meaning: string | undefined;
  private since = Number.POSITIVE_INFINITY;

  /** Take how the control stands now, in pixels of the window; true when it may decide. `place` is undefined while it is out of sight. */
  observe(place: Place | undefined, meaning: string, now: number): boolean {
    if (place === undefined) this.since = Number.POSITIVE_INFINITY;
    else if (this.place === undefined || meaning !== this.meaning || !isStill(place, this.place)) this.since = now;
    this.place = place;
    this.meaning = meaning;
    return now - this.since >= ARMING_MS;
  }
}
