import { resolvePointer } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { isClosed, isFirstClose } from '../close/evidence.ts';
import { ownerOf } from '../owners.ts';
import { listPages } from '../results/listing.ts';
import { conversationIdOf, isConversationAccepted } from '../transcript.ts';
import { conformingClose } from './conforming-response.ts';
import { restorePage } from './restored-turns.ts';

/** The probe that waits for nothing, so that no conversation of it is closed because it is idle. */
const PROBE = 'service/conversations';

/** Recognizes an end call that closes other conversations of its owner, too. */
export function findClosedWithOthers(transcript: Transcript): Diagnosis[] {
  const calls = transcript.exchanges.filter(isClosed);
  const isMarked = ({ json }: Exchange): boolean =>
    resolvePointer(json, '/already_closed') === true;
  const first = calls.filter(
    (call) =>
      isFirstClose(call) &&
      call.probe === PROBE &&
      // The spans of days ago may look idle.
      !['close old', 'close closed last'].includes(call.step) &&
      isConversationAccepted(conversationIdOf(call), transcript),
  );
  const marked = first.filter(isMarked);
  const seen = nonEmpty(marked.filter((call) => findCloser(call, calls)));
  // A service that marks every call does not show which one closed a conversation.
  if (!seen || marked.length === first.length) return [];
  const example = findExample(seen);
  const closer = findCloser(example, calls);
  return [
    {
      seen,
      consequences: [
        ...calls.filter((call) => !seen.includes(call)),
        ...listPages(transcript).filter(({ endpoint }) => endpoint === 'production'),
      ],
      fault: `an end call also closes other conversations: the first call for one returns already_closed: true (${describeSeen(seen)}), after exchange ${closer?.id} closed another one of this owner`,
      cure: 'Close only the conversation whose id is in the path',
      repair: (exchange) => {
        if (exchange.endpoint !== 'end') return restorePage(exchange, transcript);
        const isRepeat = calls.some(
          (other) => other.id < exchange.id && isSameConversation(other, exchange),
        );
        const { run } = isObject(exchange.json) ? exchange.json : {};
        const response = conformingClose(exchange, transcript, isRepeat);
        return typeof run === 'string' && !isMarked(exchange) && exchange.response
          ? exchange.response
          : response;
      },
    },
  ];
}

const isSameConversation = (call: Exchange, other: Exchange): boolean =>
  conversationIdOf(call) === conversationIdOf(other) && ownerOf(call) === ownerOf(other);

/** Returns the last end call before another one that closed another conversation of the same owner. */
const findCloser = (call: Exchange, calls: readonly Exchange[]): Exchange | undefined =>
  calls.findLast(
    (other) =>
      other.startedMs < call.startedMs &&
      ownerOf(other) === ownerOf(call) &&
      !isSameConversation(other, call),
  );
