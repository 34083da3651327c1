/** The names and the status of sessions (spec 2.4, 2.5). */
import { formatValue } from '../../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { chain } from '../../../engine/mutants/combinators.ts';
import type { Subject } from '../../../engine/requirement.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import { requireControlApi, wrongValue } from '../findings.ts';
import { seededSessions, sessionsOf, startedAtMs, type SeededSession } from '../transcript.ts';
import { not, onSessions, onSummary, removeKey, setKey, wantsTraces } from '../transforms.ts';
import { both, editProductionSessions, editSimulationSessions } from './both-endpoints.ts';
import {
  checkSessions,
  hasSessionFields,
  hasTypicalValue,
  isSeededPage,
  OBSERVED_VALUE,
  TIME_PRECISION_MS,
  WRONG_TYPE,
} from './evidence.ts';
import { editTurnsOf } from './turn-edits.ts';
import { noWholeList } from './whole-list.ts';

const roundRate = onSummary((summary) => {
  summary['pass_rate'] = Math.round(Number(summary['pass_rate']) * 100) / 100;
});

export const sessions: Subject = {
  requirements: {
    ...both('SERVICE-088', 'SERVICE-140', ({ endpoint, kind, either }) => ({
      level: 'may',
      rule: `\`status\` of a ${kind} session is typically \`completed\`.`,
      statements: [either('2.5.7', '2.4.10')],
      reason: OBSERVED_VALUE,
      check: hasTypicalValue(endpoint, '/status', 'completed'),
    })),
    'SERVICE-084': {
      rule: '`run`, `source_session_id`, and `status` of a production session are strings.',
      statements: ['2.5.3', '2.5.4', '2.5.6'],
      reason: WRONG_TYPE,
      check: hasSessionFields('production', '/run', '/source_session_id', '/status'),
      mutants: {
        'session-run-null': editProductionSessions(
          'Returns null as run when turns are requested.',
          setKey('run', null),
          wantsTraces,
        ),
        'session-status-number': editProductionSessions(
          'Returns status as a number.',
          setKey('status', 3),
        ),
        'session-id-missing': {
          ...editProductionSessions(
            'Omits source_session_id unless turns are requested.',
            removeKey('source_session_id'),
            not(wantsTraces),
          ),
          alsoKills: ['SERVICE-219'],
        },
      },
    },
    'SERVICE-096': {
      rule: 'A production session has no `agent`, `scenario`, or `persona` key.',
      statements: ['2.5.14'],
      reason:
        'Programs use these keys to distinguish simulation sessions from production sessions.',
      check: hasNoSimulationKeys(),
      mutants: {
        'agent-null': editProductionSessions('Adds agent: null.', setKey('agent', null)),
        'scenario-empty': editProductionSessions('Adds an empty scenario.', setKey('scenario', '')),
        'persona-null': editProductionSessions('Adds persona: null.', setKey('persona', null)),
      },
    },
    'SERVICE-139': {
      rule: '`simulation`, `agent`, `scenario`, `persona`, and `status` of a simulation session are strings.',
      statements: ['2.4.5', '2.4.6', '2.4.7', '2.4.8', '2.4.9'],
      reason: WRONG_TYPE,
      check: hasSessionFields(
        'simulations',
        ...['/simulation', '/agent', '/scenario', '/persona', '/status'],
      ),
      mutants: {
        ...Object.fromEntries(
          ['simulation', 'scenario', 'persona', 'status'].map((key) => [
            `simulation-${key}-null`,
            editSimulationSessions(`Returns null as ${key}.`, setKey(key, null)),
          ]),
        ),
        'simulation-agent-null': editSimulationSessions(
          'Returns null as agent when turns are requested.',
          setKey('agent', null),
          wantsTraces,
        ),
      },
    },
    'SERVICE-212': {
      rule: 'A simulation session has the names of its simulation, agent, scenario, and persona.',
      statements: ['2.4.5', '2.4.6', '2.4.7', '2.4.8'],
      reason: 'People look for a session by these names.',
      observability: 'provoked',
      check: hasSeededNames(),
      mutants: {
        'simulation-agent-url': editSimulationSessions(
          'Returns the URL of the agent as agent.',
          (session) => {
            session['agent'] = `https://${String(session['agent'])}.example/chat`;
          },
        ),
        'simulation-as-id': editSimulationSessions('Returns an id as simulation.', (session) => {
          session['simulation'] = `sim-${String(session['simulation']).length}`;
        }),
        'simulation-persona-swapped': editSimulationSessions(
          'Swaps scenario and persona.',
          (session) => {
            const { scenario, persona } = session;
            Object.assign(session, { scenario: persona, persona: scenario });
          },
        ),
      },
    },
  },
  legal: {
    'status-other': {
      description: 'Uses done as the status of sessions.',
      transform: onSessions('production', setKey('status', 'done')),
    },
    'extra-session-fields': {
      description: 'Adds unspecified fields to sessions.',
      transform: onSessions('simulations', (session) => {
        session['id'] = 7;
        session['simulation_id'] = null;
      }),
    },
    'written-otherwise': {
      description:
        'Rounds rates to two decimals, lists the last turn first, and links to hash routes.',
      transform: chain(
        onSessions('simulations', roundRate),
        onSessions('production', (session) => {
          roundRate(session);
          session['url'] = String(session['url']).replace('/production-eval', '/#$&');
          editTurnsOf(session, (turns) => turns.toReversed());
        }),
      ),
    },
  },
};

const seededNames = ['simulation', 'agent', 'scenario', 'persona'] as const;

/** Requires the seeded names in seeded simulation sessions, which are found by their start. */
export function hasSeededNames(): Check {
  const findFaults = (page: Exchange, seeded: SeededSession): Finding[] => {
    const index = sessionsOf(page).findIndex(
      (session) => Math.abs((startedAtMs(session) ?? 0) - seeded.startMs) < TIME_PRECISION_MS,
    );
    const session = sessionsOf(page)[index];
    // A value of another type violates another requirement.
    return seededNames
      .filter((name) => typeof session?.[name] === 'string' && session[name] !== seeded[name])
      .map((name) => wrongValue(page, `/items/${index}/${name}`, formatValue(seeded[name])));
  };
  return checkEach(
    isSeededPage('whole'),
    (page, transcript) => seededSessions(transcript).flatMap((seeded) => findFaults(page, seeded)),
    requireControlApi(noWholeList('simulations')),
  );
}

function hasNoSimulationKeys(): Check {
  return checkSessions(
    'production',
    () => true,
    (session) => {
      const key = ['agent', 'scenario', 'persona'].find((name) => Object.hasOwn(session, name));
      return key === undefined ? undefined : { pointer: `/${key}`, expected: 'absent' };
    },
  );
}
