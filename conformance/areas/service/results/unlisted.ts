/** Closed conversations that the results do not list: by another id, or not at all (spec 2.5, 4.4). */
import type { Finding } from '../../../engine/checks/check.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { conversationIdOf, findUpload, sessionsOf } from '../transcript.ts';

/** The part of an id that all conversations of a run have in common, such as `sk-abcdefgh-`. */
const RUN_PREFIX = /^sk-[a-z0-9]{8}-/i;

/** Returns an id of the run on a page that the run never sent: the service has changed it. */
export function findChangedId(page: Exchange, transcript: Transcript): string | undefined {
  const sent = [
    ...transcript.exchanges.map(conversationIdOf),
    findUpload(transcript)?.['session_id'],
  ].filter((id) => typeof id === 'string');
  const prefix = sent.flatMap((id) => RUN_PREFIX.exec(id) ?? [])[0]?.toLowerCase();
  if (prefix === undefined) return undefined;
  return sessionsOf(page)
    .map((session) => session['source_session_id'])
    .filter((id) => typeof id === 'string')
    .find((id) => id.toLowerCase().includes(prefix) && !sent.includes(id));
}

/** The conversations that a page should list, and those of them that it does not list. */
interface Listing {
  page: Exchange;
  all: readonly unknown[];
  unlisted: readonly unknown[];
}

/**
 * Makes a finding a note if a single one of several conversations is not listed: its evals may all have
 * ended without an outcome, and the results exclude sessions without outcomes.
 */
export function noteIfUnscored(
  finding: Finding,
  { page, all, unlisted }: Listing,
  transcript: Transcript,
): Finding {
  const isSingle = unlisted.length === 1 && all.length > 1;
  if (!isSingle || findChangedId(page, transcript) !== undefined) return finding;
  const hint = 'If its evals ended without an outcome, this is right. Otherwise, list it.';
  return { ...finding, isNote: true, hint };
}
