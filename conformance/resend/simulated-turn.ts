/** The request of a turn of a simulation, rebuilt from its report. */
import type { RunRecord, SimulationReport } from '../../src/contract/index.ts';
import { REDACTED } from '../../src/platform/redaction.ts';
import { findClosest } from '../../src/platform/suggest.ts';
import { toExchange, type Exchange } from '../engine/transcript/transcript.ts';
import { ResendError, type ResendSource } from './source.ts';

type Session = SimulationReport['sessions'][number];

/** A session and a turn of it: `SCENARIO-SAMPLE/TURN`. */
const ADDRESS = /^(.+)-(\d+)\/(\d+)$/;

const ADDRESS_FORM = 'SCENARIO-SAMPLE/TURN, such as refund-1/3';

/** Returns whether a text seems to name a turn of a simulation. */
export const isTurnAddress = (text: string): boolean => ADDRESS.test(text.replace(':', '/'));

/**
 * Returns a turn of a simulation.
 *
 * @param hasKey Whether the sandbox gets a key; the report does not say it.
 * @throws {ResendError} if the report does not contain the turn.
 */
export function findInSimulation(
  { sandbox, seed, startedAt, kitVersion, sessions }: SimulationReport,
  address: string,
  { name, hasKey }: { name: string; hasKey: boolean },
): ResendSource {
  const [, scenario, sample, turn] = ADDRESS.exec(address) ?? [];
  if (scenario === undefined) {
    throw new ResendError(
      `${name} is a report of sandbox-kit simulate. Name a turn as ${ADDRESS_FORM}. ${listTurns(sessions)}`,
    );
  }
  const session = sessions.find(
    ({ scenario_id: id, sample: number }) => id === scenario && number === Number(sample),
  );
  if (session?.channel === 'voice') {
    throw new ResendError(
      `${address} is a turn of a voice session, and only chat sessions can be sent again. To repeat it, run sandbox-kit simulate again with --scenario ${scenario} and --seed ${seed}.`,
    );
  }
  const trace = session?.traces.find(({ session_sequence: each }) => each === Number(turn));
  if (!session || !trace || !session.resendable) {
    throw new ResendError(
      `${name} does not contain the request of ${address}, only those of chat sessions that did not pass. ${describeNearest(sessions, { scenario, sample: Number(sample), turn: Number(turn) })}`,
    );
  }
  const run: RunRecord = {
    record: 'run',
    kitVersion,
    suite: 'simulation',
    target: sandbox,
    seed,
    startedAt,
    areas: ['chat', 'health', 'users'],
    allowHttp: true,
    keyGiven: hasKey,
    concurrency: 1,
  };
  const authorization = hasKey ? { authorization: `Bearer ${REDACTED}` } : {};
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...authorization,
  };
  const { user } = session.resendable;
  const sayTurn = (number: number): Exchange =>
    createExchange(number + 1, 'chat', `turn ${number}`, {
      method: 'POST',
      path: '/v1/chat/completions',
      headers,
      body: JSON.stringify(createBody(session, number)),
    });
  const before = sayTurn(Number(turn));
  const earlier = session.traces
    .map(({ session_sequence: number }) => number)
    .filter((number) => number < Number(turn))
    .map((number) => ({ ...sayTurn(number), response: { status: 200, headers: {}, body: '' } }));
  const creation = user && {
    ...createExchange(1, 'create', 'simulated user', {
      method: 'POST',
      path: '/users',
      headers,
      body: JSON.stringify(user),
    }),
    response: { status: 201, headers: {}, body: '' },
  };
  const exchanges = [...(creation ? [creation] : []), ...earlier, before];
  const simulated = { session, turn: Number(turn) };
  return { run, exchanges, before, judgedBy: [], breaks: [], simulated };
}

function createExchange(
  id: number,
  endpoint: 'chat' | 'create',
  step: string,
  request: Exchange['request'],
): Exchange {
  return toExchange({
    record: 'exchange',
    id,
    probe: 'simulation',
    step,
    endpoint,
    intent: 'valid',
    request,
    startedMs: id,
    endedMs: id,
  });
}

/** Returns the body of a turn: the conversation until then, without its reply. */
function createBody({ traces, resendable }: Session, turn: number): object {
  const { messages = [], ...rest } = resendable?.chat_request ?? {};
  const said = traces
    .filter(({ session_sequence: each }) => each <= turn)
    .flatMap(({ session_sequence: each, user_input: line, agent_response: reply }) => [
      ...(each === 1 && resendable?.agent_speaks_first ? [] : [{ role: 'user', content: line }]),
      ...(each === turn ? [] : [{ role: 'assistant', content: reply }]),
    ]);
  return { messages: [...messages, ...said], ...rest };
}

const LISTED_MAX = 4;

/**
 * Names the turns that are nearest to one that can't be sent again: those of the closest scenario, first
 * of the nearest sample. Without such a scenario, lists other turns.
 */
function describeNearest(
  sessions: readonly Session[],
  wanted: { scenario: string; sample: number; turn: number },
): string {
  const candidates = sessions.filter(({ resendable }) => resendable !== undefined);
  const scenario = findClosest(
    wanted.scenario,
    candidates.map(({ scenario_id: id }) => id),
  );
  const nearest = candidates
    .filter(({ scenario_id: id }) => id === scenario)
    .toSorted((a, b) => Math.abs(a.sample - wanted.sample) - Math.abs(b.sample - wanted.sample))
    .flatMap((session) =>
      session.traces
        .map(({ session_sequence: turn }) => turn)
        .toSorted((a, b) => Math.abs(a - wanted.turn) - Math.abs(b - wanted.turn))
        .map((turn) => nameTurn(session, turn)),
    )
    .slice(0, LISTED_MAX);
  if (nearest.length === 0) return listTurns(sessions);
  return `The nearest ${nearest.length === 1 ? 'is' : 'are'} ${nearest.join(', ')}.`;
}

/** Returns the name of a turn, which `ADDRESS` matches. */
const nameTurn = ({ scenario_id: id, sample }: Session, turn: number): string =>
  `${id}-${sample}/${turn}`;

/** Lists turns that can be sent again. */
function listTurns(sessions: readonly Session[]): string {
  const turns = sessions.flatMap((session) => {
    const last = session.traces.at(-1)?.session_sequence;
    return session.resendable && last !== undefined ? [nameTurn(session, last)] : [];
  });
  if (turns.length === 0) return 'It contains none.';
  const more = turns.length > LISTED_MAX ? ', …' : '';
  return `It contains ${turns.slice(0, LISTED_MAX).join(', ')}${more}.`;
}
