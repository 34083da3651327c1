/** The filters by name of both results endpoints: run, agent, and eval (spec 4.3, 4.4). */
import { resolvePointer } from '../../../../src/contract/index.ts';
import { seededRandom } from '../../../../src/platform/random.ts';
import { checkEach, type Check } from '../../../engine/checks/check.ts';
import type { TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { onForeignService } from '../control-api/foreign-service.ts';
import { requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import {
  type NameFilter,
  objectsAt,
  queryParameter,
  type ResultsEndpoint,
  type ResultsObject,
} from '../results-api.ts';
import type { ResultsStep } from '../steps.ts';
import { hasControlApi, queryOf, seededSessions, sentSeed, sessionsOf } from '../transcript.ts';
import { hasQuery, onPages, onSessions, rewriteQuery } from '../transforms.ts';
import { both } from './both-endpoints.ts';
import { isIdentifiablePage } from './evidence.ts';
import {
  filtersSessions,
  ignoreParameter,
  nameAndEvalStep,
  replaceFilter,
  WRONG_FILTER,
  type FilterRule,
} from './filtering.ts';
import { addNameHints } from './filter-hints.ts';
import { hasSeededNames } from './sessions.ts';
import { findWholeList, noWholeList } from './whole-list.ts';

/** The steps that use a name filter. */
export const nameFilterSteps: Readonly<Record<NameFilter, readonly ResultsStep[]>> = {
  run: ['run', 'run none', 'run with %', 'run with .', 'run by session id'],
  agent: ['agent', 'agent none', 'agent with %', 'agent with .', 'agent by scenario'],
  eval: ['eval', 'eval with %', 'eval with _', 'eval by category', 'eval by reasoning'],
};

export const nameFilters: Subject = {
  requirements: {
    ...both('SERVICE-110', 'SERVICE-146', ({ endpoint, kind, either, forEndpoint }) => {
      const name = either('run', 'agent');
      const elsewhere = searchElsewhere(endpoint, name, either('source_session_id', 'scenario'));
      return {
        rule: `The filter \`${name}\` keeps the ${kind} sessions whose ${name} name contains the value, ignoring case.`,
        statements: [either('4.4.3', '4.3.5')],
        reason: WRONG_FILTER,
        check: addNameHints(
          endpoint,
          name,
          filtersSessions(endpoint, nameFilterSteps[name], either(matchesRun, matchesAgent)),
        ),
        mutants: {
          ...forEndpoint({
            ...wrongMatches(endpoint, name),
            [`${name}-elsewhere`]: elsewhere,
            ...either({}, { 'agent-by-simulation': searchElsewhere(endpoint, name, 'simulation') }),
          }),
          ...either({}, { 'strange-agent-elsewhere': onForeignService(elsewhere) }),
        },
      };
    }),
    ...both('SERVICE-111', 'SERVICE-148', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `The filter \`eval\` keeps the ${kind} sessions that have an eval whose name contains the value, ignoring case.`,
      statements: either(['4.4.4'], ['4.3.9', '4.3.10']),
      reason: WRONG_FILTER,
      check: addNameHints(endpoint, 'eval', filtersByEval(endpoint)),
      mutants: forEndpoint(wrongMatches(endpoint, 'eval')),
    })),
    ...both('SERVICE-210', 'SERVICE-211', ({ endpoint, kind, either, forEndpoint }) => {
      const name = either('run', 'agent');
      const matchesName: FilterRule = either(matchesRun, matchesAgent);
      return {
        rule: `\`${name}\` together with \`eval\` keeps the ${kind} sessions that match both.`,
        section: either('4.4', '4.3'),
        statements: either(['4.4.3', '4.4.4'], ['4.3.5', '4.3.9']),
        reason: WRONG_FILTER,
        observability: 'provoked',
        check: requirePlainRight(
          [filtersSessions(endpoint, nameFilterSteps[name], matchesName), filtersByEval(endpoint)],
          filtersSessions(
            endpoint,
            [nameAndEvalStep(name)],
            (session, page, transcript) =>
              matchesEval(session, page) && matchesName(session, page, transcript),
          ),
        ),
        mutants: forEndpoint({
          [`${name}-or-eval`]: {
            description: `Keeps sessions that match ${name} or eval.`,
            // The eval does not exist, so the other filter alone decides.
            transform: rewriteQuery(endpoint, (query) => query.delete('eval'), hasQuery(name)),
          },
        }),
      };
    }),
    'SERVICE-147': {
      rule: 'The filter `agent` keeps the simulation sessions whose agent URL contains the value, ignoring case.',
      statements: ['4.3.6'],
      reason: WRONG_FILTER,
      observability: 'provoked',
      check: filtersByAgentUrl(),
      mutants: {
        'agent-url-unknown': {
          description: 'Does not search the URL of agents.',
          transform: rewriteQuery(
            'simulations',
            (query) => query.set('agent', seededRandom('none').id(12)),
            ({ path }) => path.includes('.example'),
          ),
        },
      },
    },
  },
  legal: {
    'eval-narrows': {
      description: 'Lists only the outcomes that match the eval filter.',
      transform: onSessions(
        'production',
        (session, { path }) => {
          const name = (queryParameter(path, 'eval') ?? '').toLowerCase();
          session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').filter((outcome) =>
            String(outcome['eval_name']).toLowerCase().includes(name),
          );
        },
        hasQuery('eval'),
      ),
    },
  },
};

function containsText(value: unknown, part: string | undefined): boolean {
  return (
    typeof value === 'string' &&
    part !== undefined &&
    value.toLowerCase().includes(part.toLowerCase())
  );
}

/** Selects sessions by the name of their run. */
function matchesRun(session: ResultsObject, page: Exchange): boolean {
  return containsText(session['run'], queryOf(page, 'run'));
}

/** Selects sessions that have an eval with a matching name. */
export function matchesEval({ eval_outcomes: outcomes }: ResultsObject, page: Exchange): boolean {
  return (
    Array.isArray(outcomes) &&
    outcomes.some((outcome) =>
      containsText(resolvePointer(outcome, '/eval_name'), queryOf(page, 'eval')),
    )
  );
}

/** Requires exactly the sessions that have an eval with a matching name. */
export function filtersByEval(endpoint: ResultsEndpoint): Check {
  return filtersSessions(endpoint, nameFilterSteps.eval, matchesEval);
}

/**
 * Selects sessions by the name or URL of their agent. If the URL is unknown, a page may list all
 * sessions of the agent or none.
 */
function matchesAgent(
  session: ResultsObject,
  page: Exchange,
  transcript: Transcript,
): ReturnType<FilterRule> {
  const part = queryOf(page, 'agent');
  const { agent } = session;
  if (containsText(agent, part)) return true;
  const url = seededAgentUrls(transcript).get(agent);
  if (url !== undefined) return containsText(url, part);
  // A valid URL contains a percent sign only as part of an escape sequence.
  if (part?.includes('%')) return false;
  const whole = findWholeList(transcript, 'simulations');
  const countOfAgent = (sessions: readonly ResultsObject[]): number =>
    sessions.filter((other) => other['agent'] === agent).length;
  const isAll = whole && countOfAgent(sessionsOf(page)) >= countOfAgent(whole.sessions);
  return isAll ? 'either' : false;
}

function seededAgentUrls(transcript: Transcript): Map<unknown, unknown> {
  const agents =
    hasControlApi(transcript) && resolvePointer(sentSeed(transcript, 'main'), '/agents');
  return new Map(
    (Array.isArray(agents) ? agents : []).map((agent) => [
      resolvePointer(agent, '/name'),
      resolvePointer(agent, '/url'),
    ]),
  );
}

/** Requires exactly the sessions of the agent whose URL was requested. */
function filtersByAgentUrl(): Check {
  const check = checkEach(
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
    requireControlApi(noWholeList('simulations')),
  );
  return requirePlainRight([hasSeededNames()], check);
}

/** Creates services that compare a name with the value of a filter in another way. */
function wrongMatches(endpoint: ResultsEndpoint, filter: NameFilter): Record<string, MutantEntry> {
  const matches = (description: string, isMatch: TextMatch): MutantEntry => ({
    description,
    transform: replaceMatch(endpoint, filter, isMatch),
  });
  const mutants = {
    [`${filter}-ignored`]: {
      description: `Ignores ${filter}.`,
      transform: ignoreParameter(endpoint, filter),
    },
    [`${filter}-case`]: {
      description: `Matches ${filter} case-sensitively.`,
      transform: matchCase(endpoint, filter),
    },
    [`${filter}-by-end`]: matches(`Matches ${filter} only at the end.`, (text, value) =>
      text.endsWith(value),
    ),
    [`${filter}-percent`]: matches(
      `Treats % in ${filter} as a wildcard.`,
      matchWildcard('%', '.*'),
    ),
  };
  // One endpoint is enough for the rest, because both endpoints share the rule.
  if (endpoint === 'simulations') return mutants;
  return {
    ...mutants,
    [`${filter}-ascii-case`]: {
      description: `Ignores the case of ASCII letters alone in ${filter}.`,
      transform: replaceFilter(endpoint, filter, (session, value) =>
        namesOf(session, filter).some((name) => toAsciiLower(name).includes(toAsciiLower(value))),
      ),
    },
    [`${filter}-by-start`]: matches(`Matches ${filter} only at the start.`, (text, value) =>
      text.startsWith(value),
    ),
    ...(filter === 'eval'
      ? {
          'eval-underscore': matches('Treats _ in eval as a wildcard.', matchWildcard('_', '.')),
          'eval-by-category': searchOutcomes(endpoint, 'eval_category'),
          'eval-by-reasoning': searchOutcomes(endpoint, 'reasoning'),
        }
      : {
          [`${filter}-pattern`]: matches(
            `Treats ${filter} as a regular expression.`,
            matchWildcard('.', '.'),
          ),
        }),
  };
}

type TextMatch = (text: string, value: string) => boolean;

function replaceMatch(
  endpoint: ResultsEndpoint,
  filter: NameFilter,
  isMatch: TextMatch,
): TransformFactory {
  return replaceFilter(endpoint, filter, (session, value) =>
    namesOf(session, filter).some((name) => isMatch(name.toLowerCase(), value.toLowerCase())),
  );
}

/** Returns the names of a session that a filter compares. */
function namesOf(session: ResultsObject, filter: NameFilter): string[] {
  return filter === 'eval'
    ? objectsAt(session, 'eval_outcomes').map(({ eval_name: name }) => String(name))
    : [String(session[filter])];
}

const toAsciiLower = (text: string): string =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Treats one character of the value as a wildcard. */
function matchWildcard(wildcard: string, pattern: string): TextMatch {
  return (text, value) => {
    const parts = value.split(wildcard).map((part) => part.replaceAll(/[^a-z0-9 ]/g, '\\$&'));
    return new RegExp(parts.join(pattern)).test(text);
  };
}

/** Finds nothing if the value contains upper-case letters. */
function matchCase(endpoint: ResultsEndpoint, filter: NameFilter): TransformFactory {
  return onPages(
    endpoint,
    (page) => Object.assign(page, { items: [], total: 0 }),
    ({ path }) => {
      const value = queryParameter(path, filter);
      const hasUpperCase = value !== undefined && value !== value.toLowerCase();
      return hasUpperCase && !path.includes('.example');
    },
  );
}

/** A service that also searches a field other than the name. */
function searchElsewhere(
  endpoint: ResultsEndpoint,
  filter: 'run' | 'agent',
  field: string,
): MutantEntry {
  return {
    description: `Also searches ${field} for ${filter}.`,
    transform: replaceFilter(endpoint, filter, (session, value) =>
      [session[filter], session[field]].some((text) =>
        String(text).toLowerCase().includes(value.toLowerCase()),
      ),
    ),
  };
}

/** A service whose eval filter also searches another field of the outcomes. */
function searchOutcomes(
  endpoint: ResultsEndpoint,
  field: 'eval_category' | 'reasoning',
): MutantEntry {
  return {
    description: `Also searches ${field} for eval.`,
    transform: replaceFilter(endpoint, 'eval', (session, value) =>
      objectsAt(session, 'eval_outcomes').some((outcome) =>
        [outcome['eval_name'], outcome[field]].some((text) => containsText(text, value)),
      ),
    ),
  };
}
