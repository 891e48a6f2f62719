/** What goes to a shell and back: typing in few commands, and output that is acknowledged once it was drawn. */

/** Characters of one command. */
const MOST = 8192;
/** Milliseconds between two commands of typing, and between two acknowledgements: a connection may send 50 commands a second. */
const TYPING_MS = 30;
const SEEN_MS = 100;
/** Frames that are drawn before they are acknowledged; the hub sends 32 ahead. */
const FRAMES = 8;

/** Does something at once, and again no sooner than some milliseconds later. */
class Paced {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isWanted = false;

  constructor(
    private readonly act: () => void,
    private readonly ms: number,
  ) {}

  want(): void {
    if (this.timer !== undefined) {
      this.isWanted = true;
      return;
    }
    this.isWanted = false;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.isWanted) this.want();
    }, this.ms);
    this.act();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isWanted = false;
  }
}

/** Sends what is typed, in order, with one command on the way at a time. */
export class Typing {
  private waiting = "";
  /** Also until there is somebody to send it to. */
  private isSending = true;
  private readonly pace: Paced;

  constructor(
    private readonly send: (text: string) => Promise<unknown>,
    private readonly failed: (error: unknown) => void,
  ) {
    this.pace = new Paced(() => this.next(), TYPING_MS);
  }

  add(text: string): void {
    this.waiting += text;
    this.pace.want();
  }

  begin(): void {
    this.isSending = false;
    this.pace.want();
  }

  stop(): void {
    this.waiting = "";
    this.pace.stop();
  }

  private next(): void {
    if (this.isSending || this.waiting === "") return;
    // Half a character would be none.
    const isHalf = /[\uD800-\uDBFF]/.test(this.waiting.charAt(MOST - 1));
    const text = this.waiting.slice(0, isHalf ? MOST - 1 : MOST);
    this.waiting = this.waiting.slice(text.length);
    this.isSending = true;
    this.send(text)
      .catch((error) => {
        // The rest would be typed into another place than it was meant for.
        this.waiting = "";
        this.failed(error);
      })
      .finally(() => {
        this.isSending = false;
        if (this.waiting !== "") this.pace.want();
      });
  }
}

/** Acknowledges frames, several at a time. */
export class Seen {
  private drawn = 0;
  private told = 0;
  private readonly pace: Paced;

  constructor(tell: (number: number) => void) {
    this.pace = new Paced(() => {
      if (this.drawn - this.told < FRAMES) return;
      this.told = this.drawn;
      tell(this.drawn);
    }, SEEN_MS);
  }

  draw(number: number): void {
    this.drawn = number;
    if (this.drawn - this.told >= FRAMES) this.pace.want();
  }

  stop(): void {
    this.pace.stop();
  }
}
