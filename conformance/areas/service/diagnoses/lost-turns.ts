import type { Transcript } from '../../../engine/transcript/reading.ts';
import type { Diagnosis } from '../../diagnoses/seen.ts';
import { listPages } from '../results/listing.ts';
import { explainDifferences } from '../results/lost-turns.ts';
import { compareTurns } from '../results/turn-differences.ts';
import { findSession, lastPolledPage } from '../transcript.ts';
import { findLateSpans } from './late-spans.ts';
import { restorePage } from './restored-turns.ts';

/** The conversations whose turns show why others lack turns, too. */
const plainSteps = ['json', 're-sent'] as const;

/** Recognizes a service that loses or repeats the spans of ordinary conversations. */
export function findLostTurns(transcript: Transcript): Diagnosis[] {
  const page = lastPolledPage(transcript);
  const [first] = plainSteps.flatMap((step) => {
    const session = findSession(transcript, step);
    const id = session?.['source_session_id'];
    if (!session || typeof id !== 'string' || !Array.isArray(session['traces'])) return [];
    const differences = compareTurns(session, id, transcript);
    // What is wrong with a plain conversation is also wrong with the others.
    return differences.missing.length + differences.repeated.length > 0 ? [differences] : [];
  });
  const explanation = first && explainDifferences(first, transcript);
  // Spans that are stored late are lost if their conversation is closed before.
  if (!page || !explanation || findLateSpans(transcript).length > 0) return [];
  const { fault, cure } = explanation;
  return [
    {
      seen: [page],
      consequences: listPages(transcript).filter(({ endpoint }) => endpoint === 'production'),
      fault,
      cure,
      repair: (other) => restorePage(other, transcript),
    },
  ];
}
