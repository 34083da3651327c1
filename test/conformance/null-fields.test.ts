/** A null in place of an optional field is judged in the same way for every field of every response. */
import t from 'tap';
import { sandboxSuite } from '../../conformance/areas/index.ts';
import { set } from '../../conformance/engine/mutants/combinators.ts';
import { judgeTranscript } from '../../conformance/engine/judge/judge.ts';
import { isAccepted } from '../../conformance/engine/transcript/reading.ts';
import { toExchange, type Transcript } from '../../conformance/engine/transcript/transcript.ts';
import type { Endpoint } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { recordSandboxOnce } from '../support/conformance/recorded-runs.ts';

/** The optional fields of each response that the specification types. */
const fields: readonly [endpoint: Endpoint, pointer: string, requirement: string][] = [
  ['chat', '/choices/0/index', 'CHAT-025'],
  ['chat', '/choices/0/finish_reason', 'CHAT-027'],
  ['chat', '/choices/0/message/tool_calls', 'CHAT-040'],
  ['chat', '/session_id', 'CHAT-029'],
  ['chat', '/chat_id', 'CHAT-032'],
  ['chat', '/metadata', 'CHAT-033'],
  ['chat', '/metadata/agent_confidence', 'CHAT-034'],
  ['chat', '/metadata/response_time_ms', 'CHAT-035'],
  ['chat', '/metadata/tools_used', 'CHAT-036'],
  ['chat', '/evaluation_metadata', 'CHAT-037'],
  ['create', '/session_id', 'USERS-024'],
  ['create', '/profile_id', 'USERS-025'],
  ['create', '/capabilities', 'USERS-026'],
  ['health', '/version', 'HEALTH-012'],
  ['health', '/uptime', 'HEALTH-013'],
  ['health', '/webrtc_status', 'HEALTH-014'],
  ['health', '/dependencies', 'HEALTH-016'],
  ['health', '/dependencies/database', 'HEALTH-017'],
  ['health', '/dependencies/llm_service', 'HEALTH-017'],
  ['health', '/dependencies/external_apis', 'HEALTH-017'],
  ['health', '/metrics', 'HEALTH-018'],
  ['health', '/metrics/response_time_avg', 'HEALTH-019'],
  ['health', '/metrics/error_rate', 'HEALTH-020'],
  ['health', '/metrics/memory_usage', 'HEALTH-020'],
  ['health', '/metrics/cpu_usage', 'HEALTH-020'],
  ['health', '/error', 'HEALTH-021'],
];

/** Returns the recording with a null at a place of every accepted response of an endpoint. */
function withNull(
  { run, exchanges }: Transcript,
  endpoint: Endpoint,
  pointer: string,
  isChanged: (sent: unknown) => boolean = () => true,
): Transcript {
  const change = set(pointer, null);
  return {
    run,
    exchanges: exchanges.map((exchange) => {
      const { json, sent, ...record } = exchange;
      const { response } = record;
      const isJudged = exchange.endpoint === endpoint && isAccepted(exchange) && isObject(json);
      if (!isJudged || !response || !isChanged(sent)) return exchange;
      const body = structuredClone(json);
      change(body, undefined as never);
      return toExchange({ ...record, response: { ...response, body: JSON.stringify(body) } });
    }),
  };
}

void t.test('null is never an optional value, and the hint is the same', async (t) => {
  const transcript = await recordSandboxOnce();
  const redsOf = (changed: Transcript): [string, (string | undefined)[]][] =>
    [...judgeTranscript(sandboxSuite, changed).requirements].flatMap(([id, result]) =>
      result.verdict === 'fail' || result.verdict === 'warn'
        ? [[id, [...new Set(result.findings.map(({ hint }) => hint))]]]
        : [],
    );
  t.same(redsOf(transcript), [], 'the unchanged recording conforms');
  for (const [endpoint, pointer, id] of fields) {
    const hint = 'Omit the field when it has no value.';
    t.same(
      redsOf(withNull(transcript, endpoint, pointer)),
      [[id, [hint]]],
      `${endpoint} ${pointer}`,
    );
  }
  const withoutSession = (sent: unknown): boolean => isObject(sent) && !('session_id' in sent);
  const echo = withNull(transcript, 'chat', '/session_id', withoutSession);
  t.match(redsOf(echo), [['CHAT-029']], 'even if the request has no session id');
  const required = withNull(transcript, 'chat', '/choices/0/message/content');
  t.match(redsOf(required), [['CHAT-024', [/^Send a string/]]], 'a required field is not omitted');
});
