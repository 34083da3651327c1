/** The run that a closed conversation joins (spec 2.2, 2.3, 3.1). */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { type Check } from '../../../engine/checks/check.ts';
import { chain, editAccepted } from '../../../engine/mutants/combinators.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { needsScores, requirePlainRight, wrongValue } from '../findings.ts';
import type { ResultsObject } from '../results-api.ts';
import { startsWithFirstSpan } from '../results/session-times.ts';
import type { EndStep } from '../steps.ts';
import { isStep, sentSeed } from '../transcript.ts';
import { isLiveRun, onSessions } from '../transforms.ts';
import { closesWith, isScoringClose, runOf } from './evidence.ts';

export const runs: Subject = {
  requirements: {
    'SERVICE-054': {
      rule: 'Conversations of different dates join different runs.',
      statements: ['2.3.5', '3.1.7'],
      reason: 'Conversations of several days would look like the results of one day.',
      check: requirePlainRight(
        [startsWithFirstSpan()],
        comparesRuns(['close old', 'close json'], false),
      ),
      mutants: {
        'one-run': renames('Adds all days to one run.', (run) =>
          isLiveRun(run) ? 'Live traces 2026-01-01' : run,
        ),
      },
    },
    'SERVICE-055': {
      rule: 'Conversations that start at the same time join the same run.',
      statements: ['1.16', '3.1.7'],
      reason: 'The results of one day would be scattered over many runs.',
      check: comparesRuns(['close protobuf', 'close gzip'], true),
      mutants: {
        'run-of-its-own': renames('Creates a run for each conversation.', (run, conversationId) =>
          isLiveRun(run) ? `${run} ${conversationId}` : run,
        ),
      },
    },
    'SERVICE-056': {
      rule: 'The default base name of a run is `Live traces`.',
      statements: ['2.2.5'],
      reason: 'People look for the run under this name.',
      observability: 'provoked',
      check: closesWith(
        ['close old', 'close json'],
        '/run',
        (exchange) => String(runOf(exchange)).includes('Live traces'),
        'a name that contains "Live traces"',
      ),
      mutants: {
        'run-other-name': renames('Uses Production as the default run name.', (run) =>
          run.replace('Live traces', 'Production'),
        ),
      },
    },
    'SERVICE-057': {
      rule: '`run` consists of the configured base name and an addition, such as the date.',
      section: '2.3',
      statements: ['2.2.4', '2.3.5'],
      reason: 'People look for the run under this name and distinguish days by the addition.',
      observability: 'provoked',
      probes: ['service/settings'],
      check: closesWith(
        ['close named'],
        '/run',
        hasConfiguredRunName,
        'the configured base name and a date',
      ),
      mutants: {
        'run-without-date': {
          ...renames('Omits the date from run names.', (run) =>
            run.replace(/ \d{4}-\d\d-\d\d$/, ''),
          ),
          alsoKills: ['SERVICE-054'],
        },
        'run-name-ignored': renames('Ignores the configured run name.', (run) =>
          run.replace(/^Check \S{8} (?=\d)/, 'Live traces '),
        ),
      },
      legal: {
        'run-date-first': {
          description: 'Puts the date before the base name of the run.',
          transform: chain(
            editAccepted('end', moveDateFirst),
            onSessions('production', moveDateFirst),
          ),
        },
      },
    },
  },
};

/** Compares the runs of two conversations. */
function comparesRuns(steps: readonly [EndStep, EndStep], isSame: boolean): Check {
  const closesOf = ({ exchanges }: Transcript): Exchange[] =>
    exchanges.filter(
      (exchange) =>
        isScoringClose(exchange) &&
        isStep(exchange, 'end', ...steps) &&
        typeof runOf(exchange) === 'string',
    );
  return {
    evidence: (transcript) => {
      const both = closesOf(transcript);
      return both.length === 2 ? both : [];
    },
    judge([first, second]) {
      if (!first || !second || (runOf(first) === runOf(second)) === isSame) return [];
      const firstRun = `${formatValue(runOf(first))} of exchange ${first.id}`;
      if (!isSame) return [wrongValue(second, '/run', `a run other than ${firstRun}`)];
      const received = `${formatValue(runOf(second))}, and ${firstRun}`;
      return [wrongValue(second, '/run', 'one run for both conversations', received)];
    },
    unjudged: needsScores('No two close responses queued evals.'),
  };
}

function hasConfiguredRunName(exchange: Exchange, transcript: Transcript): boolean {
  const base = String(resolvePointer(sentSeed(transcript, 'named'), '/settings/run_name'));
  const run = String(runOf(exchange));
  return run.includes(base) && run.length > base.length;
}

/** A mutant that renames runs in close responses and in the results. */
function renames(
  description: string,
  rename: (run: string, conversationId: string) => string,
): MutantEntry {
  const edit = (body: ResultsObject, conversationId: unknown): void => {
    const { run } = body;
    if (typeof run === 'string') body['run'] = rename(run, String(conversationId));
  };
  return {
    description,
    transform: chain(
      editAccepted('end', (body) => edit(body, body['conversation_id'])),
      onSessions('production', (session) => edit(session, session['source_session_id'])),
    ),
  };
}

/** Moves the date of a run name to the front. */
function moveDateFirst(body: ResultsObject): void {
  body['run'] = String(body['run']).replace(/^(.*) (\d{4}-\d\d-\d\d)$/, '$2 $1');
}
