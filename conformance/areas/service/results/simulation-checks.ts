import { brief, valueAt } from '../../../../src/contract/index.ts';
import type { simulationResultRequirements } from './simulation-requirements.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import {
  failingOutcomes,
  failingTotal,
  filtered,
  hasFailed,
  ofAgent,
  othersUnseen,
  scoredBy,
  stepsBy,
  wholeSummaries,
} from './filter-checks.ts';
import {
  capped,
  defaults,
  envelope,
  newestFirst,
  noWhole,
  paged,
  readAnswered,
  windowed,
  wrong,
} from './page-checks.ts';
import { hasControl, isPage, sessionsOf, needsControl, type Item } from '../reading.ts';
import {
  itemField,
  linkShape,
  noSessions,
  observed,
  outcomesField,
  summaryField,
  tracesAbsent,
  tracesPresent,
} from './session-checks.ts';
import { byTime, seeded, seedOfItem } from './time-checks.ts';
import { type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';

const AREA = 'simulations';

const isOwn =
  (...steps: string[]) =>
  (one: Exchange, transcript: Transcript): boolean =>
    isPage(AREA)(one) && steps.includes(one.step) && hasControl(transcript);

/** A page of sessions that can be told apart: by their personas, which are the seed's own. */
const isTold =
  (step: string) =>
  (one: Exchange, transcript: Transcript): boolean =>
    isOwn(step)(one, transcript) &&
    sessionsOf(one).every(({ persona }) => typeof persona === 'string');

/** A simulation that was deleted keeps its sessions and loses its link. */
function deletedKept(): Check {
  const find = (item: Item | undefined, page: Exchange): Finding[] => {
    if (!item) return [wrong(page, '/items', 'the session of a deleted simulation', 'not listed')];
    const outcomes = item['eval_outcomes'];
    return [
      ...(item['url'] === null ? [] : [wrong(page, '/items', 'a url of null', brief(item['url']))]),
      ...(Array.isArray(outcomes) && outcomes.length === 0
        ? [wrong(page, '/items', 'its outcomes', '[]')]
        : []),
    ];
  };
  return checkEach(
    isTold('whole'),
    (page, transcript) =>
      seeded(transcript)
        .filter(({ isDeleted }) => isDeleted)
        .flatMap((session) =>
          find(
            sessionsOf(page).find(({ persona }) => persona === session.persona),
            page,
          ),
        ),
    needsControl(noWhole),
  );
}

/** The agent whose URL was asked for, and no other. */
function byUrl(): Check {
  return checkEach(
    isTold('agent by URL'),
    (page, transcript) => {
      const expected = seeded(transcript).filter(({ isDeleted }) => !isDeleted);
      const got = sessionsOf(page).map(({ persona }) => persona);
      const isRight =
        got.length === expected.length && expected.every((one) => got.includes(one.persona));
      const says = `the ${expected.length} sessions of the agent with that URL`;
      return isRight ? [] : [wrong(page, '/items', says, String(got.length))];
    },
    needsControl(noWhole),
  );
}

function allCounted(): Check {
  return checkEach(
    isOwn('defaults'),
    (page, transcript) => {
      const { length } = seeded(transcript);
      const total = valueAt(page.json, '/total');
      return typeof total !== 'number' || total === length
        ? []
        : [wrong(page, '/total', String(length))];
    },
    needsControl(noWhole),
  );
}

/** A link is null or leads to the session; a deleted simulation's is judged by itself. */
function linkOrNull(): Check {
  const typed = itemField(AREA, '/url');
  const shaped = linkShape(AREA, 'simulation');
  return {
    evidence: (transcript) => typed.evidence(transcript),
    judge: (evidence, transcript) => [
      ...typed.judge(evidence, transcript),
      ...shaped.judge(evidence, transcript),
      ...nullsOf(evidence, transcript),
    ],
    unjudged: noSessions,
  };
}

/** Where a simulation is there, so is its link. */
function nullsOf(evidence: Exchange[], transcript: Transcript): Finding[] {
  const isThere = (item: Item): boolean => seedOfItem(item, transcript)?.isDeleted === false;
  return evidence
    .filter((one) => isOwn('whole')(one, transcript))
    .flatMap((page) =>
      sessionsOf(page)
        .filter((item) => item['url'] === null && isThere(item))
        .map(() => wrong(page, '/items', 'a link to a simulation that is there', 'null')),
    );
}

const STRINGS = ['/simulation', '/agent', '/scenario', '/persona', '/status'];

/** The checks of `GET /api/simulations/sessions/`, one for each requirement. */
export const simulationResultChecks = {
  'SERVICE-130': readAnswered(AREA),
  'SERVICE-131': envelope(AREA),
  'SERVICE-132': defaults(AREA),
  'SERVICE-133': capped(AREA),
  'SERVICE-134': windowed(AREA),
  'SERVICE-135': paged(AREA),
  'SERVICE-136': newestFirst(AREA),
  'SERVICE-137': linkOrNull(),
  'SERVICE-138': deletedKept(),
  'SERVICE-139': itemField(AREA, ...STRINGS),
  'SERVICE-140': observed(AREA, '/status', (status) => status === 'completed', '"completed"'),
  'SERVICE-141': itemField(AREA, '/started_at', '/ended_at'),
  'SERVICE-142': summaryField(AREA),
  'SERVICE-143': outcomesField(AREA),
  'SERVICE-144': tracesAbsent(AREA),
  'SERVICE-145': tracesPresent(AREA, [
    'session_sequence',
    'user_input',
    'user_reason',
    'agent_response',
  ]),
  'SERVICE-146': filtered(AREA, stepsBy('agent'), ofAgent),
  'SERVICE-147': byUrl(),
  'SERVICE-148': filtered(AREA, stepsBy('eval'), scoredBy),
  'SERVICE-149': filtered(AREA, ['failed only'], hasFailed),
  'SERVICE-150': failingOutcomes(AREA),
  'SERVICE-151': wholeSummaries(AREA),
  'SERVICE-152': failingTotal(AREA),
  'SERVICE-153': byTime(AREA, 'started_after'),
  'SERVICE-154': byTime(AREA, 'started_before'),
  'SERVICE-155': allCounted(),
  'SERVICE-156': othersUnseen(AREA),
} satisfies Record<keyof typeof simulationResultRequirements, Check>;
