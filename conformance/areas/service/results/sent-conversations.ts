/** The conversations of the run, as it sent them and as the production results list them. */
import type { TraceSpan } from '../../../../src/contract/index.ts';
import type { Check, Finding } from '../../../engine/checks/check.ts';
import type { Transcript } from '../../../engine/transcript/reading.ts';
import { wrongValue, needsScores } from '../findings.ts';
import type { ResultsObject } from '../results-api.ts';
import type { ConversationName } from '../steps.ts';
import { findSession, lastPolledPage, sentChatSpans, turnsOf } from '../transcript.ts';

/** A conversation as the run sent it and as the results list it. */
export interface ListedConversation {
  id: string;
  session: ResultsObject;
  /** Its chat spans by start time. */
  spans: TraceSpan[];
}

/** Conversations with a specified number of turns, which excludes the one with a wrapper span. */
export const countableSteps: readonly ConversationName[] = [
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

/** Returns whether a page was read with the turns of a conversation. */
export const hasTurns = ({ session }: ListedConversation): boolean =>
  Array.isArray(session['traces']);

/** Returns whether a page has one turn per chat span of a conversation. */
export const hasAllTurns = (conversation: ListedConversation): boolean =>
  hasTurns(conversation) && turnsOf(conversation.session).length === conversation.spans.length;

function findConversations(
  transcript: Transcript,
  steps: readonly ConversationName[],
): ListedConversation[] {
  return steps.flatMap((step) => {
    const session = findSession(transcript, step);
    const id = session?.['source_session_id'];
    if (!session || typeof id !== 'string') return [];
    const spans = sentChatSpans(id, transcript);
    return spans.length === 0 ? [] : [{ id, session, spans }];
  });
}

/** What is wrong with a listed conversation. */
export type ConversationFault = Pick<Finding, 'expected' | 'received' | 'hint'>;

/** Judges conversations of the run on the last page that was polled. */
export function checkConversations(
  steps: readonly ConversationName[],
  applies: (conversation: ListedConversation) => boolean,
  findFaults: (conversation: ListedConversation, transcript: Transcript) => ConversationFault[],
): Check {
  return {
    evidence(transcript) {
      const page = lastPolledPage(transcript);
      return page && findConversations(transcript, steps).some(applies) ? [page] : [];
    },
    judge: ([page], transcript) =>
      page
        ? findConversations(transcript, steps)
            .filter(applies)
            .flatMap((conversation) => findFaults(conversation, transcript))
            .map(({ expected, received, hint }) => ({
              ...wrongValue(page, '/items', expected, received),
              ...(hint !== undefined && { hint }),
            }))
        : [],
    unjudged: needsScores('The results list no conversation of the run.'),
  };
}
