import type { Repair } from '../../../engine/checks/check.ts';
import type { Transcript } from '../../../engine/transcript/reading.ts';
import { findMisspelledNames } from '../../diagnoses/misspelled-fields.ts';
import { toRepair } from '../../diagnoses/seen.ts';
import { findWrappedBodies } from '../../diagnoses/wrapped-body.ts';
import { findErrorsSentAsSuccess } from './error-status.ts';
import { findClosedWithOthers } from './closed-with-others.ts';
import { findLateSpans } from './late-spans.ts';
import { findLeftOutOutcomes } from './left-out-outcomes.ts';
import { findLostCloses } from './lost-closes.ts';
import { findLostTurns } from './lost-turns.ts';
import { findMisplacedSessions } from './misplaced-sessions.ts';
import { findIgnoredFlags, findPartialTraces } from './missing-traces.ts';
import { findMixedUpOwners } from './mixed-up-owners.ts';
import { findContradictingSummaries } from './contradicting-summaries.ts';
import { findContradictingTotals } from './contradicting-totals.ts';
import { findMissingSlashes, findServiceRedirects, findUnknownLists } from './other-paths.ts';
import { findRenamedItems } from './renamed-items.ts';
import { findRefusedRepetitions } from './repeated-spans.ts';
import { findShortPages } from './short-pages.ts';

/** Recognizes defects of a service that spoil many responses in the same way, and returns the repair of each. */
export function diagnoseService(transcript: Transcript): Repair[] {
  return [
    findServiceRedirects,
    findMissingSlashes,
    findUnknownLists,
    findRefusedRepetitions,
    findLateSpans,
    findClosedWithOthers,
    findLostCloses,
    findLostTurns,
    findMisplacedSessions,
    findPartialTraces,
    findIgnoredFlags,
    findLeftOutOutcomes,
    findWrappedBodies,
    findRenamedItems,
    findMisspelledNames,
    findErrorsSentAsSuccess,
    findMixedUpOwners,
    findContradictingSummaries,
    findShortPages,
    findContradictingTotals,
  ]
    .flatMap((find) => find(transcript))
    .map(toRepair);
}
