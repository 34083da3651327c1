import { formatValue, resolvePointer } from '../../../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../../../engine/checks/check.ts';
import { type Exchange, type Transcript } from '../../../../engine/transcript/reading.ts';
import { requireControlApi, wrongValue } from '../../findings.ts';
import type { ResultsObject } from '../../results-api.ts';
import { isStep, type ResultsStep } from '../../steps.ts';
import {
  findSeededSession,
  hasControlApi,
  isResultsPage,
  seededSessions,
  sessionsOf,
} from '../../transcript.ts';
import type { simulationRequirements } from '../requirements/simulations.ts';
import {
  countsFailures,
  filtersByTime,
  filtersSessions,
  hasFailure,
  listsOnlyFailures,
  matchesAgent,
  matchesEval,
  nameFilterSteps,
  summarizesWholeSession,
} from './filters.ts';
import {
  answersReads,
  capsLimit,
  echoesLimits,
  hasPageFields,
  hidesOtherOwners,
  listsNewestFirst,
  noWholePage,
  pagesCompletely,
  usesDefaults,
} from './pages.ts';
import {
  endsAfterStart,
  hasLink,
  hasMatchingRate,
  hasOutcomes,
  hasPossibleCounts,
  hasSessionFields,
  hasSummary,
  hasTypicalValue,
  includesTraces,
  listsAllOutcomes,
  noSessions,
  omitsTraces,
} from './sessions.ts';
import { numbersTurns, seededInputs, showsSeededTurns, showsSomeTurns } from './turns.ts';

const ENDPOINT = 'simulations';

/** Pages of a step whose owner has only the sessions that the run seeded. */
const isSeededPage =
  (step: ResultsStep) =>
  (page: Exchange, transcript: Transcript): boolean =>
    isResultsPage(ENDPOINT)(page) && isStep(page, ENDPOINT, step) && hasControlApi(transcript);

/** The same, if each session has a persona, which identifies seeded sessions. */
const isIdentifiablePage =
  (step: ResultsStep) =>
  (page: Exchange, transcript: Transcript): boolean =>
    isSeededPage(step)(page, transcript) &&
    sessionsOf(page).every(({ persona }) => typeof persona === 'string');

/** Requires the sessions of a deleted simulation with their outcomes and without a link. */
function keepsDeletedSimulations(): Check {
  const findFaults = (session: ResultsObject | undefined, page: Exchange): Finding[] => {
    if (!session) {
      return [wrongValue(page, '/items', 'the session of a deleted simulation', 'not listed')];
    }
    const { url, eval_outcomes: outcomes } = session;
    return [
      ...(url === null ? [] : [wrongValue(page, '/items', 'url: null', formatValue(url))]),
      ...(Array.isArray(outcomes) && outcomes.length === 0
        ? [wrongValue(page, '/items', 'the outcomes of the session', '[]')]
        : []),
    ];
  };
  return checkEach(
    isIdentifiablePage('whole'),
    (page, transcript) =>
      seededSessions(transcript)
        .filter(({ isDeleted }) => isDeleted)
        .flatMap((seeded) => {
          const session = sessionsOf(page).find(({ persona }) => persona === seeded.persona);
          return findFaults(session, page);
        }),
    requireControlApi(noWholePage),
  );
}

/** Requires exactly the sessions of the agent whose URL was requested. */
function filtersByAgentUrl(): Check {
  return checkEach(
    isIdentifiablePage('agent by URL'),
    (page, transcript) => {
      const expected = seededSessions(transcript).filter(({ isDeleted }) => !isDeleted);
      const personas = sessionsOf(page).map(({ persona }) => persona);
      const isRight =
        personas.length === expected.length &&
        expected.every(({ persona }) => personas.includes(persona));
      if (isRight) return [];
      const description = `the ${expected.length} sessions of the agent with that URL`;
      return [wrongValue(page, '/items', description, String(personas.length))];
    },
    requireControlApi(noWholePage),
  );
}

function countsAllSessions(): Check {
  return checkEach(
    isSeededPage('defaults'),
    (page, transcript) => {
      const { length } = seededSessions(transcript);
      const total = resolvePointer(page.json, '/total');
      return typeof total !== 'number' || total === length
        ? []
        : [wrongValue(page, '/total', String(length))];
    },
    requireControlApi(noWholePage),
  );
}

/** Requires a link, or null if the simulation was deleted. */
function hasLinkOrNull(): Check {
  const typeCheck = hasSessionFields(ENDPOINT, '/url');
  const linkCheck = hasLink(ENDPOINT, 'simulation');
  return {
    evidence: (transcript) => typeCheck.evidence(transcript),
    judge: (evidence, transcript) => [
      ...typeCheck.judge(evidence, transcript),
      ...linkCheck.judge(evidence, transcript),
      ...findMissingLinks(evidence, transcript),
    ],
    unjudged: noSessions,
  };
}

function findMissingLinks(pages: Exchange[], transcript: Transcript): Finding[] {
  const isExisting = (session: ResultsObject): boolean =>
    findSeededSession(session, transcript)?.isDeleted === false;
  return pages
    .filter((page) => isSeededPage('whole')(page, transcript))
    .flatMap((page) =>
      sessionsOf(page)
        .filter((session) => session['url'] === null && isExisting(session))
        .map(() => wrongValue(page, '/items', 'a link to the existing simulation', 'null')),
    );
}

/** The checks of `GET /api/simulations/sessions/`. */
export const simulationChecks = {
  'SERVICE-130': answersReads(ENDPOINT),
  'SERVICE-131': hasPageFields(ENDPOINT),
  'SERVICE-132': usesDefaults(ENDPOINT),
  'SERVICE-133': capsLimit(ENDPOINT),
  'SERVICE-134': echoesLimits(ENDPOINT),
  'SERVICE-135': pagesCompletely(ENDPOINT),
  'SERVICE-136': listsNewestFirst(ENDPOINT),
  'SERVICE-137': hasLinkOrNull(),
  'SERVICE-138': keepsDeletedSimulations(),
  'SERVICE-139': hasSessionFields(
    ENDPOINT,
    ...['/simulation', '/agent', '/scenario', '/persona', '/status'],
  ),
  'SERVICE-140': hasTypicalValue(ENDPOINT, '/status', 'completed'),
  'SERVICE-141': hasSessionFields(ENDPOINT, '/started_at', '/ended_at'),
  'SERVICE-142': hasSummary(ENDPOINT),
  'SERVICE-143': hasOutcomes(ENDPOINT),
  'SERVICE-144': omitsTraces(ENDPOINT),
  'SERVICE-145': includesTraces(ENDPOINT, [
    'session_sequence',
    'user_input',
    'user_reason',
    'agent_response',
  ]),
  'SERVICE-146': filtersSessions(ENDPOINT, nameFilterSteps('agent'), matchesAgent),
  'SERVICE-147': filtersByAgentUrl(),
  'SERVICE-148': filtersSessions(ENDPOINT, nameFilterSteps('eval'), matchesEval),
  'SERVICE-149': filtersSessions(ENDPOINT, ['failed only'], hasFailure),
  'SERVICE-150': listsOnlyFailures(ENDPOINT),
  'SERVICE-151': summarizesWholeSession(ENDPOINT),
  'SERVICE-152': countsFailures(ENDPOINT),
  'SERVICE-153': filtersByTime(ENDPOINT, 'started_after'),
  'SERVICE-154': filtersByTime(ENDPOINT, 'started_before'),
  'SERVICE-155': countsAllSessions(),
  'SERVICE-156': hidesOtherOwners(ENDPOINT),
  'SERVICE-157': hasPossibleCounts(ENDPOINT),
  'SERVICE-158': listsAllOutcomes(ENDPOINT),
  'SERVICE-159': hasMatchingRate(ENDPOINT),
  'SERVICE-160': numbersTurns(ENDPOINT, seededInputs),
  'SERVICE-161': endsAfterStart(ENDPOINT),
  'SERVICE-162': showsSeededTurns(),
  'SERVICE-163': showsSomeTurns(),
} satisfies Record<keyof typeof simulationRequirements, Check>;
