import { errorOrigin } from '../../platform/error-origin.ts';
import type { EndReason, UserCreateRequest } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { NO_USER_MODEL } from '../domain/missing-models.ts';
import type { Channel, OpenChannel } from './channel.ts';
import { chatChannel } from './chat-channel.ts';
import { graphUser } from './graph-user.ts';
import { limitedBy } from './limited-by.ts';
import { llmUser } from './llm-user.ts';
import { reviewUser } from './review.ts';
import type { Sandbox } from './sandbox.ts';
import { scriptedUser } from './scripted-user.ts';
import type { SessionPlan } from './session-plan.ts';
import {
  SessionFault,
  type AgentReply,
  type SimulatedSession,
  type SimulatedTurn,
} from './simulated-session.ts';
import type { Heard, Move, SimulatedUser } from './simulated-user.ts';
import { withoutTools } from './tool-evals.ts';
import type { UserModel } from './user-model.ts';

/** What sessions are held with. */
export interface SessionDeps {
  sandbox: Sandbox;
  /** Calls the sandbox, for sessions by voice. */
  call: OpenChannel;
  /** Plays users of mode `llm`. */
  model: UserModel | undefined;
  /** What sessions are dated by. */
  clock: Clock;
  /** What deadlines are on: a sandbox lives in real time, wherever the other stands. */
  machineClock: Clock;
  log: Log;
}

const turnsMaxDefault = 10;
const durationMsMaxDefault = 600_000;

/**
 * Holds one session: looks whether the sandbox is healthy, creates the simulated user, talks, and
 * deletes the user whatever came of it (spec 3.2, 4.6). Never rejects; when the signal aborts, the
 * session is cancelled.
 */
export async function runSession(
  plan: SessionPlan,
  deps: SessionDeps,
  signal: AbortSignal,
): Promise<SimulatedSession> {
  const { clock, machineClock } = deps;
  const startedAtMs = clock.nowMs();
  const durationMsMax = plan.scenario.limits?.max_duration_ms ?? durationMsMaxDefault;
  using limit = limitedBy(machineClock, durationMsMax, signal);
  const held: Held = {
    ...{ turns: [], isTried: false, userId: undefined, notes: [] },
    ...{ tellsTools: true, asksModel: false },
  };
  const until = limit.signal;
  const ended = await hold(plan, deps, { held, until }).then(
    (endReason): Ended => ['completed', endReason, undefined],
    (fault: unknown): Ended => {
      if (signal.aborted) return ['cancelled', 'cancelled', undefined];
      if (!until.aborted) return ['failed', ...told(fault, deps.log, plan)];
      const bound = `max_duration_ms, ${durationMsMax} ms`;
      if (held.asksModel) {
        const late = `The model that plays the user does not answer: ${bound}, passed.`;
        return ['failed', 'simulator_error', late];
      }
      return ['failed', 'timeout', `The session took longer than ${bound}.`];
    },
  );
  if (held.isTried) {
    const note = await deps.sandbox.deleteUser(plan.userId);
    if (note !== undefined && held.userId !== undefined) held.notes.push(note);
  }
  const [status, endReason, error] = ended;
  const { turns, notes, userId } = held;
  const { scenario, evals } = plan;
  const review = await reviewUser({ scenario, turns, endReason });
  const scorable = held.tellsTools ? { evals, notes: [] } : withoutTools(scenario, evals);
  return {
    ...{ status, endReason, error, turns, review, userId, startedAtMs },
    evals: scorable.evals,
    notes: [...notes, ...(status === 'completed' ? scorable.notes : [])],
    endedAtMs: clock.nowMs(),
  };
}

type Ended = [SimulatedSession['status'], EndReason, string | undefined];

/** What a session has so far. */
interface Held {
  turns: SimulatedTurn[];
  /** A user may be there, even one whose creation was not answered. */
  isTried: boolean;
  /** Once it is created. */
  userId: string | undefined;
  notes: string[];
  /** Whether tool calls could be seen. */
  tellsTools: boolean;
  /** Whether the model that plays the user is waited for, or has failed. */
  asksModel: boolean;
}

async function hold(
  plan: SessionPlan,
  { sandbox, model, call, machineClock: clock }: SessionDeps,
  { held, until }: { held: Held; until: AbortSignal },
): Promise<EndReason> {
  const user = playerOf(plan, model && watched(model, held));
  await sandbox.health(until);
  held.isTried = true;
  held.isTried = await sandbox.createUser(userOfPlan(plan), until);
  if (held.isTried) held.userId = plan.userId;
  const channel =
    plan.channel === 'voice'
      ? await call(plan, held.userId, until)
      : chatChannel({ sandbox, clock }, plan, held.userId);
  try {
    return await converse(plan, { user, channel, turns: held.turns, clock }, until);
  } finally {
    held.tellsTools = channel.tellsTools;
    held.notes.push(...channel.notes);
    await channel.close();
  }
}

function userOfPlan({ scenario, persona, userId, channel }: SessionPlan): UserCreateRequest {
  const { preferences, history, profile } = scenario;
  return {
    user_id: userId,
    metadata: {
      scenario_id: scenario.id,
      persona: persona.name,
      session_type: channel,
      ...(preferences && { preferences }),
      ...(history && { history }),
    },
    ...(profile && { profile: { ...profile } }),
  };
}

function playerOf(plan: SessionPlan, model: UserModel | undefined): SimulatedUser {
  const { scenario, persona } = plan;
  const { mode = 'graph' } = scenario.user;
  if (mode === 'scripted') return scriptedUser(scenario);
  if (mode === 'graph') return graphUser(scenario, persona);
  if (!model) throw new SessionFault('simulator_error', NO_USER_MODEL);
  return llmUser(plan, model);
}

/** A model that is waited for when the session's time is over has taken it, not the agent. */
const watched = (model: UserModel, held: Held): UserModel => ({
  async move(prompt, signal) {
    held.asksModel = true;
    const move = await model.move(prompt, signal);
    held.asksModel = false;
    return move;
  },
});

interface Talk {
  user: SimulatedUser;
  channel: Channel;
  turns: SimulatedTurn[];
  clock: Clock;
}

/** Talks until one of the two is done; why it ended. */
async function converse(plan: SessionPlan, talk: Talk, signal: AbortSignal): Promise<EndReason> {
  const { user, channel, turns } = talk;
  const turnsMax = plan.scenario.limits?.max_turns ?? turnsMaxDefault;
  let heard: Heard | undefined;
  let isOver = false;
  if (plan.scenario.user.speaks_first === false) {
    const first = await takeTurn(talk, { line: '', reason: 'the agent speaks first' }, () =>
      channel.listen(signal),
    );
    heard = first?.heard ?? { turn: 0, content: lastSaid(plan), tools: [] };
    isOver = first?.hungUp ?? false;
  }
  for (;;) {
    const move = await user.next(heard, signal);
    if (move.does === 'end') return move.reason;
    if (isOver) return 'agent_ended';
    if (turns.length >= turnsMax) return 'max_turns';
    const taken = await takeTurn(talk, move, () => channel.say(move.line, signal));
    if (!taken?.heard) return 'agent_ended';
    [heard, isOver] = [taken.heard, taken.hungUp];
    if (move.thenEnds) return move.thenEnds;
  }
}

const lastSaid = ({ scenario }: SessionPlan): string =>
  scenario.initial_messages?.at(-1)?.content ?? '';

interface Taken {
  /** Undefined where the agent hung up instead of an answer. */
  heard: Heard | undefined;
  hungUp: boolean;
}

/** Notes a turn, also one to which no reply comes: the line was said. Undefined: it was not. */
async function takeTurn(
  { turns, channel, clock }: Talk,
  { line, reason }: Pick<Extract<Move, { does: 'say' }>, 'line' | 'reason'>,
  ask: () => Promise<AgentReply | undefined>,
): Promise<Taken | undefined> {
  const said = { sequence: turns.length + 1, userInput: line, userReason: reason };
  let reply: AgentReply | undefined;
  // What was waited for in vain took that long.
  const nothing = (): Omit<SimulatedTurn, keyof typeof said> => {
    const nowMs = clock.monotonicMs();
    const latencyMs = Math.max(0, nowMs - (channel.saidAtMs ?? nowMs));
    return { agentResponse: '', toolCalls: [], latencyMs, failed: true };
  };
  try {
    reply = await ask();
  } catch (fault) {
    turns.push({ ...said, ...nothing() });
    throw fault;
  }
  if (!reply) return undefined;
  const { content, toolCalls, latencyMs, evaluationMetadata, hungUp = false } = reply;
  if (hungUp && content === '') {
    turns.push({ ...said, ...nothing() });
    return { heard: undefined, hungUp };
  }
  const answered = { agentResponse: content, toolCalls, latencyMs, failed: false };
  turns.push({ ...said, ...answered, evaluationMetadata });
  const tools = toolCalls.map(({ name }) => name);
  return { heard: { turn: said.sequence, content, tools }, hungUp };
}

/** What of a fault may be told. One that is none of a session's is ours. */
function told(fault: unknown, log: Log, { sessionId }: SessionPlan): [EndReason, string] {
  if (fault instanceof SessionFault) return [fault.endReason, fault.message];
  const { name, at } = errorOrigin(fault);
  log.error('simulated_session_failed', { session: sessionId, fault: name, at });
  return ['simulator_error', `A fault of the kit (${name}); please report it.`];
}
