/** How long to wait before the next attempt to connect: doubling, bounded, with jitter so that many clients spread out. */

export interface BackoffOptions {
  /** First wait in milliseconds. */
  first?: number;
  /** Longest wait in milliseconds. */
  most?: number;
  /** A number in [0, 1). */
  random?: () => number;
}

export class Backoff {
  private readonly first: number;
  private readonly most: number;
  private readonly random: () => number;
  private attempts = 0;

  constructor({ first = 250, most = 10_000, random = Math.random }: BackoffOptions = {}) {
    this.first = first;
    this.most = most;
    this.random = random;
  }

  /** Milliseconds to wait now; half of it is fixed, half is random. */
  next(): number {
    const full = Math.min(this.most, this.first * 2 ** this.attempts);
    this.attempts += 1;
    return full / 2 + (full / 2) * this.random();
  }

  /** Begin anew after a connection that worked. */
  reset(): void {
    this.attempts = 0;
  }
}
