import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { replaceKeys, type Response } from '../../diagnoses/conforming-response.ts';
import { nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { queuesEvals } from '../close/evidence.ts';
import { NO_SLASH_STEP } from '../results/evidence.ts';
import { listsAfterScoring, scoringCloses } from '../results/listed-conversations.ts';
import { listPages } from '../results/listing.ts';
import { findChangedId } from '../results/unlisted.ts';
import { conversationIdOf, sentStartOf, sessionsById, sessionsOf, totalOf } from '../transcript.ts';

/** One of two conversations that are closed so soon after each other may have to wait for its scoring. */
const BUSY_MS = 100;

/**
 * Recognizes a service that scores only some conversations, and loses those that are closed while it
 * scores another one. If only a few were missing, something else would set them apart.
 */
export function findLostCloses(transcript: Transcript): Diagnosis[] {
  const check = listsAfterScoring();
  const pages = check.evidence(transcript);
  const [page] = pages;
  if (!page || check.judge(pages, transcript).every(({ isNote }) => isNote)) return [];
  if (findChangedId(page, transcript) !== undefined) return [];
  const closes = scoringCloses(transcript);
  // A conversation that only some pages list is scored, but a filter is wrong. A path without its slash may
  // have another handler.
  const listings = listPages(transcript).filter(
    ({ endpoint, step }) => endpoint === 'production' && step !== NO_SLASH_STEP,
  );
  const isListed = (close: Exchange): boolean =>
    listings.some((other) => sessionsById(other, conversationIdOf(close)).length > 0);
  const findOther = (close: Exchange): Exchange | undefined =>
    transcript.exchanges.findLast(
      (other) =>
        other.endpoint === 'end' &&
        other !== close &&
        queuesEvals(other) &&
        other.startedMs <= close.endedMs + BUSY_MS &&
        other.endedMs >= close.startedMs - BUSY_MS,
    );
  const lost = nonEmpty(closes.filter((close) => !isListed(close)));
  const isMost = lost && lost.length * 2 > closes.length && lost.length < closes.length;
  if (!isMost || !lost.every(findOther)) return [];
  const [example] = lost;
  return [
    {
      seen: lost,
      consequences: pages,
      fault: `${lost.length} of ${closes.length} conversations whose end calls queue evals are never scored: each was closed at almost the same moment as another one (exchange ${example.id}, with exchange ${findOther(example)?.id})`,
      cure: 'Put the evals of each conversation in a queue that loses none while another conversation is scored',
      repair: (exchange) =>
        exchange.endpoint === 'end' && exchange.response
          ? exchange.response
          : addSessions(exchange, lost, transcript),
    },
  ];
}

/** Adds sessions of conversations to a page, which otherwise look like its first session. */
function addSessions(page: Exchange, lost: readonly Exchange[], transcript: Transcript): Response {
  const listed = sessionsOf(page);
  const added = lost.map((close) => {
    const id = conversationIdOf(close) ?? '';
    return { ...listed[0], source_session_id: id, started_at: sentStartOf(id, transcript) };
  });
  const total = totalOf(page);
  return replaceKeys(page, {
    items: [...listed, ...added],
    total: typeof total === 'number' ? total + added.length : total,
  });
}
