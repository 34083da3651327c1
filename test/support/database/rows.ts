/** Rows for tests of the store. Omitted fields are valid. */
import type { EvalDefinition } from '../../../src/contract/index.ts';
import type {
  CloseRequest,
  NewAgentReport,
  NewDocument,
  NewRecording,
  NewSession,
  NewSimulation,
  NewSpan,
  Outcome,
  StoredFormResult,
  TraceRequestRows,
} from '../../../src/service/store/store.ts';

/** Noon of 2026-11-20, UTC. */
export const NOON_MS = Date.UTC(2026, 10, 20, 12);
export const noonNs = BigInt(NOON_MS) * 1_000_000n;

/** Returns a new simulation without scenarios. */
export function newSimulation(
  ownerId: string,
  changes: Partial<NewSimulation> = {},
): NewSimulation {
  return {
    ownerId,
    name: 'Nightly',
    agentId: undefined,
    seed: 'S',
    startedAtMs: NOON_MS,
    secret: 'k',
    concurrency: 1,
    agent: { name: 'Shop', url: 'http://127.0.0.1:1' },
    scenarios: [],
    makeId: (repeat) => `run-${repeat}`,
    ...changes,
  };
}

/** Returns a chat span; its trace id and span id are derived from `id`. */
export function newSpan(id: string, changes: Partial<NewSpan> = {}): NewSpan {
  return {
    conversationId: 'conversation-1',
    traceId: `trace-${id}`,
    spanId: `span-${id}`,
    parentSpanId: undefined,
    operation: 'chat',
    name: 'chat',
    startNs: noonNs,
    endNs: noonNs + 1_000_000_000n,
    failed: false,
    inputMessages: '[]',
    outputMessages: '[]',
    attributes: {},
    ...changes,
  };
}

export function newSpans(
  ownerId: string,
  spans: readonly NewSpan[],
  changes: Partial<TraceRequestRows> = {},
): TraceRequestRows {
  return {
    ownerId,
    receivedAtMs: NOON_MS + 2_000,
    spans,
    tags: [],
    links: [],
    logEntries: [],
    ...changes,
  };
}

export function newEval(id: string, changes: Partial<EvalDefinition> = {}): EvalDefinition {
  return { id, name: `Eval ${id}`, kind: 'max_turns', params: { max: 3 }, ...changes };
}

export function newAgent(id: string, secret: string | undefined): NewDocument {
  const url = `https://${id}.example/agent`;
  const document = { id, name: `Agent ${id}`, url, has_api_key: secret !== undefined };
  return { kind: 'agent', document, secret };
}

/** Returns a request that closes `conversation-1` with two evals. */
export function newCloseRequest(
  ownerId: string,
  changes: Partial<CloseRequest> = {},
): CloseRequest {
  const conversationId = changes.conversationId ?? 'conversation-1';
  return {
    ownerId,
    conversationId,
    atMs: NOON_MS + 60_000,
    runName: (date) => `Live traces ${date}`,
    evals: [newEval('a'), newEval('b')],
    sessionId: `session of ${conversationId}`,
    ...changes,
  };
}

/** Returns the recording of a call of a second. */
export function newRecording(audio: Buffer | undefined = Buffer.from('OggS')): NewRecording {
  const lines = [{ turn: 1, startMs: 0, endMs: 500 }];
  return { audio, summary: { durationMs: 1_000, levelMs: 100, user: [9], agent: [0], lines } };
}

/** Returns the page that a form led to; it expires at noon. */
export function newFormResult(changes: Partial<StoredFormResult> = {}): StoredFormResult {
  return { id: 'result', content: Buffer.from([0, 255, 92]), expiresAtMs: NOON_MS, ...changes };
}

export function newOutcome(evalId: string, outcome: Outcome['outcome'] = 'pass'): Outcome {
  const evalName = `Eval ${evalId}`;
  return {
    evalId,
    evalName,
    category: 'general',
    type: 'session_level',
    outcome,
    required: true,
    reasoning: `because of ${evalId}`,
  };
}

/** Returns a completed production session with one passing outcome. */
export function newSession(
  ownerId: string,
  id: string,
  changes: Partial<NewSession> = {},
): NewSession {
  return {
    id,
    ownerId,
    kind: 'production',
    status: 'completed',
    startedAtMs: NOON_MS,
    endedAtMs: NOON_MS + 1_000,
    runName: 'Uploads',
    sourceSessionId: `source of ${id}`,
    simulation: undefined,
    agent: undefined,
    scenario: undefined,
    persona: undefined,
    endReason: undefined,
    turns: [],
    evals: [],
    outcomes: [newOutcome('a')],
    ...changes,
  };
}

/** Returns a session of a simulation with a scenario, a persona, and an agent. */
export function newSimulatedSession(
  ownerId: string,
  id: string,
  changes: Partial<NewSession> = {},
): NewSession {
  return newSession(ownerId, id, {
    kind: 'simulation',
    runName: undefined,
    sourceSessionId: undefined,
    simulation: { id: 'simulation-1', name: 'Nightly', deleted: false },
    agent: { name: 'Shop', url: 'https://shop.example/agent' },
    scenario: 'late parcel',
    persona: 'patient',
    endReason: 'goal_achieved',
    ...changes,
  });
}

/** Returns a report of a check about an agent. */
export function newAgentReport(agentId: string): NewAgentReport {
  const summary = {
    standing: 'pass' as const,
    verdict: 'Conforming',
    detail: '9 pass',
    kitVersion: '0.2.0',
    target: `https://${agentId}.example/agent`,
    endedAt: '2026-11-20T09:30:00Z',
  };
  return { agentId, kind: 'check', atMs: NOON_MS, summary, report: { of: agentId } };
}
