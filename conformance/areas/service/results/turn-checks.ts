import { brief, valueAt, type TraceSpan } from '../../../../src/contract/index.ts';
import { notJudged, type Check, type Finding } from '../../../engine/checks/check.ts';
import {
  chatsOf,
  resultsOf,
  findSession,
  startMs,
  textIn,
  turnsOf,
  type Item,
} from '../reading.ts';
import type { Transcript } from '../../../engine/transcript/reading.ts';

/** A conversation as it was sent, and as it is shown. */
interface Shown {
  id: string;
  item: Item;
  chats: TraceSpan[];
}

/** Conversations whose turns can be counted; of a wrapped one it is not said how. */
const COUNTED = [
  'json',
  'protobuf',
  'gzip',
  'gzip protobuf',
  're-sent',
  'ignored',
  'tools',
  'failed',
  'old',
];

function shownOf(transcript: Transcript, steps: readonly string[]): Shown[] {
  return steps.flatMap((step) => {
    const item = findSession(transcript, step);
    const id = item?.['source_session_id'];
    if (!item || typeof id !== 'string') return [];
    const chats = chatsOf(id, transcript);
    return chats.length === 0 ? [] : [{ id, item, chats }];
  });
}

const noSession = notJudged('not_observed', 'No conversation of the run is among the results.');

/** A check of sessions in the last page of results. */
function ofSessions(
  steps: readonly string[],
  on: (shown: Shown) => boolean,
  find: (shown: Shown) => Omit<Finding, 'exchange'>[],
): Check {
  return {
    evidence(transcript) {
      const page = resultsOf(transcript);
      return page && shownOf(transcript, steps).some(on) ? [page] : [];
    },
    judge: ([page], transcript) =>
      shownOf(transcript, steps)
        .filter(on)
        .flatMap(find)
        .map((finding) => ({ ...finding, exchange: page?.id ?? 0 })),
    unjudged: noSession,
  };
}

const hasTurns = ({ item }: Shown): boolean => Array.isArray(item['traces']);

/** The session of a conversation has a turn for each of its chat spans, and no other. */
export function turnCount(step: string): Check {
  return ofSessions([step], hasTurns, ({ id, item, chats }) => {
    const { length } = turnsOf(item);
    if (length === chats.length) return [];
    const expected = `${chats.length} turns of ${brief(id)}`;
    return [{ pointer: '/items', expected, received: String(length) }];
  });
}

/** The texts of a turn are those of the span's messages. */
export function turnTexts(key: 'user_input' | 'agent_response'): Check {
  const attribute = key === 'user_input' ? 'gen_ai.input.messages' : 'gen_ai.output.messages';
  const isWhole = (shown: Shown): boolean =>
    hasTurns(shown) && turnsOf(shown.item).length === shown.chats.length;
  return ofSessions(COUNTED, isWhole, ({ id, item, chats }) => {
    const shown = turnsOf(item).map((turn) => valueAt(turn, `/${key}`));
    return chats.flatMap((span): Omit<Finding, 'exchange'>[] => {
      const sent = textIn(span, attribute);
      if (sent === undefined || shown.includes(sent)) return [];
      const expected = `${key} ${brief(sent)} of ${brief(id)}`;
      return [{ pointer: '/items', expected, received: brief(shown) }];
    });
  });
}

// Precision is not said; whole seconds are the least that can be of use.
const TOLERANCE_MS = 1_000;

/** A session starts when the first of its spans does. */
export function startsWithSpan(): Check {
  return ofSessions(
    [...COUNTED, 'wrapper'],
    ({ item }) => startMs(item) !== undefined,
    ({ id, item, chats }) => {
      const firstMs = Number((chats[0]?.startNs ?? 0n) / 1_000_000n);
      const offMs = Math.abs((startMs(item) ?? 0) - firstMs);
      if (offMs < TOLERANCE_MS) return [];
      const expected = `the start of the first span of ${brief(id)}`;
      return [{ pointer: '/items', expected, received: `${offMs} ms off` }];
    },
  );
}
