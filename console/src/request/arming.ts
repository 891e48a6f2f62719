/**
 * When a control may decide. It must have stood in the same place, in sight, with the same meaning, for half a second: nobody
 * decides by a second tap on something that has just appeared, moved or become something else. A press that comes too early begins
 * the time anew, so that taps in a row never decide, however many they are. Pure: places and times are arguments.
 */

/** Milliseconds that a deciding control must have stood still: as long as two clicks count as a double click. */
export const ARMING_MS = 500;

/** Pixels that a control may shift without having moved: fractions are rounded differently at each layout. */
const STILL = 2;

/**
 * The most milliseconds that count between two looks. Nobody knows what happened in a longer time: the page was asleep or busy. On a
 * busy machine each look counts all the same, so that a control that stands still can decide after a while.
 */
const WATCHED_MS = ARMING_MS / 4;

export interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const isStill = (one: Place, other: Place) =>
  (["left", "top", "width", "height"] as const).every((side) => Math.abs(one[side] - other[side]) <= STILL);

export class Arming {
  /** Where it stood when its time began: compared with the look before, a slow move would be none. */
  private place: Place | undefined;
  private meaning: string | undefined;
  /** Milliseconds that it has stood there. */
  private stood = 0;
  private looked = Number.NEGATIVE_INFINITY;

  /** Take how the control stands now, in pixels of the window; true when it may decide. `place` is undefined while it is out of sight. */
  observe(place: Place | undefined, meaning: string, now: number): boolean {
    const watched = Math.min(now - this.looked, WATCHED_MS);
    this.looked = now;
    const isTheSame = place !== undefined && this.place !== undefined && meaning === this.meaning && isStill(place, this.place);
    if (isTheSame) this.stood += watched;
    else {
      this.place = place;
      this.stood = 0;
    }
    this.meaning = meaning;
    return this.stood >= ARMING_MS;
  }

  /** How much of its time it has stood, from 0 to 1. */
  get share(): number {
    return Math.min(1, this.stood / ARMING_MS);
  }

  /** It was pressed too early. */
  restart(): void {
    this.stood = 0;
  }
}
