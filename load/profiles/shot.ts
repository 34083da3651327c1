import type { Endpoint, StreamName } from '../../src/contract/index.ts';
import type { Outgoing } from '../engines/transport.ts';

/** One request of a profile, and what belongs to it. */
export interface Shot {
  stream: StreamName;
  endpoint: Endpoint;
  outgoing: Outgoing;
  /** Milliseconds from when it is due until it counts as unanswered. */
  deadlineMs: number;
  /** The words that this request alone, or its conversation, may find in the answer. */
  markers: readonly string[];
  /** What comes of it says nothing of the sandbox, and is not recorded. */
  unjudged?: true;
  /** Its session, where it has one. */
  session?: string;
  /** What follows on it; `json` is the body of a good answer, undefined where it failed. */
  next?: (json: unknown) => Next | undefined;
}

/** A request that follows on another. */
export interface Next {
  shot: Shot;
  /** Milliseconds after the end of the one before. */
  afterMs: number;
  /** Sent also when the window is over: it cleans up. */
  cleansUp?: true;
}

/** Names for requests: no two of a run are alike, and none is of another run. */
export interface Markers {
  /** A session id that no other session of the run has, for the nth. */
  session(nth: number): string;
  /** A reference for its messages. */
  reference(nth: number): string;
  /** Those of this run that stand in a text and are not among `own`. */
  foreignIn(text: string, own: readonly string[]): string | undefined;
}

/** Makes the names of a run; `tag` is four lower-case letters or digits. */
export function markers(tag: string): Markers {
  const numbered = (nth: number, length: number): string => nth.toString(36).padStart(length, '0');
  const capital = tag.toUpperCase();
  const any = new RegExp(`\\b(?:sk_${tag}[a-z0-9]{8}|SK${capital}[A-Z0-9]{6})\\b`, 'g');
  return {
    session: (nth) => `sk_${tag}${numbered(nth, 8)}`,
    reference: (nth) => `SK${capital}${numbered(nth, 6).toUpperCase()}`,
    foreignIn(text, own) {
      if (!text.includes(tag) && !text.includes(capital)) return undefined;
      return text.match(any)?.find((marker) => !own.includes(marker));
    },
  };
}
