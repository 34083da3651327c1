import type { Mutant, Transform, TransformFactory } from '../../../../engine/mutants/mutant.ts';
import type { ServiceRequirementId } from '../../requirements.ts';
import { objectsAt, type ResultsEndpoint, type ResultsObject } from '../../results-api.ts';
import {
  conversationIdIn,
  mutant,
  not,
  onSessions,
  removeKey,
  setKey,
  wantsTraces,
} from '../../transforms.ts';
import { sharedMutantsOf } from './shared.ts';

type TurnEdit = (turn: ResultsObject, index: number, turns: ResultsObject[]) => void;

const onTurns = (endpoint: ResultsEndpoint, edit: TurnEdit): TransformFactory =>
  onSessions(endpoint, (session) => objectsAt(session, 'traces').forEach(edit));

/** Returns mutants of turns that both endpoints have. */
export function turnMutants(endpoint: ResultsEndpoint): Mutant[] {
  const mutant = sharedMutantsOf(endpoint);
  return [
    mutant(
      'traces-empty',
      'Returns empty traces when turns are not requested.',
      'noTraces',
      onSessions(endpoint, setKey('traces', []), not(wantsTraces)),
    ),
    mutant(
      'traces-null',
      'Returns null as traces when turns are not requested.',
      'noTraces',
      onSessions(endpoint, setKey('traces', null), not(wantsTraces)),
    ),
    mutant(
      'traces-missing',
      'Omits traces when turns are requested.',
      'traces',
      onSessions(endpoint, removeKey('traces')),
    ),
    mutant(
      'sequence-missing',
      'Omits session_sequence.',
      'traces',
      onTurns(endpoint, removeKey('session_sequence')),
    ),
    mutant(
      'sequence-alike',
      'Returns the same session_sequence for every turn.',
      'sequence',
      onTurns(endpoint, setKey('session_sequence', 1)),
    ),
    mutant(
      'sequence-text',
      'Returns session_sequence as a string.',
      'sequence',
      onTurns(endpoint, (turn, index) => {
        turn['session_sequence'] = String(index + 1);
      }),
    ),
    mutant(
      'sequence-reversed',
      'Numbers turns from the last to the first.',
      'sequence',
      onTurns(endpoint, (turn, index, turns) => {
        turn['session_sequence'] = turns.length - index;
      }),
    ),
  ];
}

/** Edits the turns of conversations with a trace request that matches. */
function onTurnsOfRequests(
  matches: (body: string, knownBodies: ReadonlySet<string>) => boolean,
  edit: (turns: ResultsObject[]) => ResultsObject[],
): TransformFactory {
  return (): Transform => {
    const knownBodies = new Set<string>();
    const ids = new Set<string>();
    const editMatching = onSessions('production', (session) => {
      if (!ids.has(String(session['source_session_id']))) return;
      if (Array.isArray(session['traces'])) session['traces'] = edit(objectsAt(session, 'traces'));
    })();
    return async (request, forward, clock) => {
      if (request.endpoint === 'traces') {
        const id = conversationIdIn(request.body);
        if (id !== undefined && matches(request.body, knownBodies)) ids.add(id);
        knownBodies.add(request.body);
      }
      return editMatching(request, forward, clock);
    };
  };
}

const addTurn = (turns: ResultsObject[]): ResultsObject[] => [
  ...turns,
  { session_sequence: turns.length + 1, user_input: '', agent_response: '' },
];

const toRawMessages = (text: unknown): string =>
  JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]);

/** Mutants of the turns of production sessions. */
export const productionTurnMutants: readonly Mutant[] = [
  mutant(
    'turns-of-one-request',
    'Keeps only the turns of the first request.',
    'SERVICE-099',
    onTurnsOfRequests(
      (body) => body.split('"chat"').length > 4,
      (turns) => turns.slice(0, 2),
    ),
  ),
  mutant(
    'input-raw',
    'Shows the raw input messages as user_input.',
    'SERVICE-100',
    onTurns('production', (turn) => {
      turn['user_input'] = toRawMessages(turn['user_input']);
    }),
  ),
  mutant(
    'input-empty',
    'Shows an empty user_input.',
    'SERVICE-100',
    onTurns('production', setKey('user_input', '')),
  ),
  mutant(
    'response-cut',
    'Truncates agent_response.',
    'SERVICE-101',
    onTurns('production', (turn) => {
      turn['agent_response'] = String(turn['agent_response']).slice(0, 20);
    }),
  ),
  mutant(
    'turns-swapped',
    'Swaps the texts of user and agent.',
    ['SERVICE-100', 'SERVICE-101'],
    onTurns('production', (turn) => {
      const { user_input: userInput, agent_response: agentResponse } = turn;
      Object.assign(turn, { user_input: agentResponse, agent_response: userInput });
    }),
  ),
  mutant(
    'resent-twice',
    'Adds a second turn for a span that is sent again.',
    'SERVICE-102',
    onTurnsOfRequests((body, knownBodies) => knownBodies.has(body), addTurn),
  ),
  mutant(
    'nameless-turn',
    'Adds a turn for a span without an operation name.',
    'SERVICE-103',
    onTurnsOfRequests((body) => body.includes('GET /orders'), addTurn),
  ),
  mutant(
    'tool-turn',
    'Adds a turn for a tool call.',
    'SERVICE-104',
    onTurnsOfRequests((body) => body.includes('execute_tool'), addTurn),
  ),
];

const editsSimulationTurns = (
  name: string,
  description: string,
  kills: ServiceRequirementId | readonly ServiceRequirementId[],
  edit: (turns: ResultsObject[]) => ResultsObject[],
): Mutant =>
  mutant(
    name,
    description,
    kills,
    onSessions(
      'simulations',
      (session) => {
        session['traces'] = edit(objectsAt(session, 'traces'));
      },
      wantsTraces,
    ),
  );

/** Mutants of the turns of simulation sessions. */
export const simulationTurnMutants: readonly Mutant[] = [
  editsSimulationTurns(
    'simulation-traces-empty',
    'Lists no turns for any simulation.',
    ['SERVICE-162', 'SERVICE-163'],
    () => [],
  ),
  editsSimulationTurns('simulation-turn-lost', 'Omits the last turn.', 'SERVICE-162', (turns) =>
    turns.slice(0, -1),
  ),
  editsSimulationTurns('simulation-turn-cut', 'Truncates agent_response.', 'SERVICE-162', (turns) =>
    turns.map((turn) => ({ ...turn, agent_response: 'There' })),
  ),
];
