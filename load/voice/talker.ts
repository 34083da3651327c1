import type { Random } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { VoiceActivityDetector } from '../../src/voice/activity/index.ts';
import type { Clip } from '../../src/voice/opus/index.ts';
import { CallFailed, type Microphone, type Said } from '../../src/voice/call/index.ts';
import type { MediaTally } from './media-tally.ts';

/** Who talks, and who is heard. */
export interface TalkerParts {
  clock: Clock;
  chance: Random;
  clips: readonly Clip[];
  microphone: Microphone;
  activity: VoiceActivityDetector;
  tally: MediaTally;
}

const lookEveryMs = 40;
/** So long after its last sound a sandbox has said what it had to say. */
const quietMs = 600;
/** Who picks up may greet first; who spoke over us may have an answer yet. */
const restMs = 1_500;
/** A sandbox that never stops is spoken over. */
const quietMsMax = 20_000;
/** An answer that is not audible by then is none. */
const answerMsMax = 10_000;
/** Before each turn; drawn, so that the callers do not all speak at once. */
const thinkMs = { least: 200, most: 1_200 };
const turnsMax = 10_000;

/** A caller who speaks, waits for the answer, hears it out, and speaks again. */
export class Talker {
  readonly #parts: TalkerParts;
  readonly #responsesMs: number[] = [];
  #turns = 0;
  /** Before this nobody is asked to be quiet yet. */
  #restFromMs: number;
  #isJudged = false;

  constructor(parts: TalkerParts) {
    this.#parts = parts;
    this.#restFromMs = parts.clock.monotonicMs() + restMs;
  }

  /** Turns that begin from now on count: what went wrong in the ramp is not judged. */
  beginWindow(): void {
    this.#isJudged = true;
  }

  /** Turns that were over in time, and the answers to them. */
  figures(): { turns: number; turnResponsesMs: readonly number[] } {
    return { turns: this.#turns, turnResponsesMs: this.#responsesMs };
  }

  /** Talks until the signal aborts. @throws CallFailed where the media has stopped. */
  async run(over: AbortSignal): Promise<void> {
    const { chance, clock, clips, microphone, activity } = this.#parts;
    const isOver = (): boolean => over.aborted;
    for (let nth = 0; nth < turnsMax && !isOver(); nth += 1) {
      await this.#until(() => this.#isQuiet(), quietMsMax, over);
      const waitMs = chance.integer(thinkMs.least, thinkMs.most);
      await clock.sleep(waitMs, over).catch(() => undefined);
      const clip = clips[chance.integer(0, clips.length - 1)];
      if (isOver() || !clip) return;
      const startedMs = clock.monotonicMs();
      const isJudged = this.#isJudged;
      activity.beginTurn();
      const said = await microphone.say(clip);
      if (!said) return;
      await this.#until(() => activity.firstOnsetMs !== undefined, answerMsMax, over);
      if (isOver() && activity.firstOnsetMs === undefined) return;
      if (isJudged) this.#note(said);
      if (activity.firstOnsetMs === undefined) this.#assertMedia(startedMs);
      const wasSpokenOver = (activity.firstOnsetMs ?? Infinity) < said.untilMs;
      this.#restFromMs = said.untilMs + (wasSpokenOver ? restMs : 0);
    }
  }

  #note({ untilMs }: Said): void {
    this.#turns += 1;
    const { firstOnsetMs: onsetMs } = this.#parts.activity;
    if (onsetMs !== undefined) this.#responsesMs.push(onsetMs - untilMs);
  }

  /** Silence may be sent as nothing; that nothing comes where an answer is due is no silence. */
  #assertMedia(sinceMs: number): void {
    const { lastPacketAtMs } = this.#parts.tally;
    if (lastPacketAtMs >= sinceMs) return;
    const isNone = lastPacketAtMs === -Infinity;
    const says = `no audio came while we spoke, nor for ${answerMsMax / 1000} s after`;
    throw new CallFailed(isNone ? 'no_media' : 'media_stopped', says);
  }

  #isQuiet(): boolean {
    const { clock, activity } = this.#parts;
    return clock.monotonicMs() - Math.max(activity.lastSpeechAtMs, this.#restFromMs) >= quietMs;
  }

  async #until(isMet: () => boolean, waitMs: number, over: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const endMs = clock.monotonicMs() + waitMs;
    while (!over.aborted && !isMet() && clock.monotonicMs() < endMs) {
      await clock.sleep(lookEveryMs, over).catch(() => undefined);
    }
  }
}
