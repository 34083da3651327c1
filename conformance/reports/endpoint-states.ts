import { findHealthProblem, voiceChannel } from '../../src/contract/index.ts';
import { isAbsent } from '../areas/users/absence.ts';
import { endpointRoutes } from '../engine/endpoint-routes.ts';
import { isOpened, isVoiceAbsent } from '../engine/transcript/call-messages.ts';
import { describeOutcome, type Exchange, isAccepted } from '../engine/transcript/reading.ts';

/** What the requests of a diagnosis show about an endpoint of a sandbox, or about its calls. */
export interface EndpointState {
  area: 'health' | 'chat' | 'users' | 'voice';
  /** The method and the path, such as `DELETE /users/{user_id}`; also `WebSocket /voice` and `calls`. */
  name: string;
  /** `absent`: the sandbox does not have it, which is optional. `not_tried`: no request was sent. */
  state: 'responds' | 'fails' | 'absent' | 'not_tried';
  /** How the last request ended, such as `200` or `timeout`, or a note that no request was sent. */
  outcome: string;
}

const endpoints = [
  { area: 'health', endpoint: 'health' },
  { area: 'chat', endpoint: 'chat' },
  { area: 'users', endpoint: 'create' },
  { area: 'users', endpoint: 'delete' },
  { area: 'voice', endpoint: 'voice' },
] as const;

/**
 * Returns the state of every endpoint, from the last request that the sandbox must accept. If the voice
 * WebSocket opens, calls are one more that was not tried, because a diagnosis places none.
 */
export function findEndpointStates(exchanges: readonly Exchange[]): EndpointState[] {
  const states = endpoints.map(({ area, endpoint }): EndpointState => {
    const { method, path } =
      endpoint === 'voice'
        ? { method: 'WebSocket', path: voiceChannel.path }
        : endpointRoutes[endpoint];
    return { area, name: `${method} ${path}`, ...findState(endpoint, exchanges) };
  });
  const hasVoice = states.some(({ area, state }) => area === 'voice' && state === 'responds');
  return hasVoice ? [...states, calls] : states;
}

const calls: EndpointState = {
  area: 'voice',
  name: 'calls',
  state: 'not_tried',
  outcome: 'not tried',
};

function findState(
  endpoint: (typeof endpoints)[number]['endpoint'],
  exchanges: readonly Exchange[],
): Pick<EndpointState, 'state' | 'outcome'> {
  const last = exchanges.findLast(
    (exchange) => exchange.endpoint === endpoint && exchange.intent === 'valid',
  );
  if (!last) {
    // Without a user, there is nothing to delete.
    const hasNoUsers = endpoint === 'delete' && isAbsent('create', { exchanges });
    return { state: hasNoUsers ? 'absent' : 'not_tried', outcome: 'not tried' };
  }
  const { response, json } = last;
  if (endpoint === 'health' && response) {
    const problem = findHealthProblem(response.status, json);
    if (problem !== undefined) return { state: 'fails', outcome: problem };
  }
  const outcome = describeOutcome(last);
  if (endpoint === 'voice') {
    if (isOpened(last)) return { state: 'responds', outcome };
    return { state: isVoiceAbsent(exchanges) ? 'absent' : 'fails', outcome };
  }
  if (isAccepted(last)) return { state: 'responds', outcome };
  const isOptional = endpoint === 'create' || endpoint === 'delete';
  return {
    state: isOptional && isAbsent(endpoint, { exchanges }) ? 'absent' : 'fails',
    outcome,
  };
}
