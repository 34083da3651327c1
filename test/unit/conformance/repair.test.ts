/** The values that a repair puts in place of wrong ones. */
import t from 'tap';
import { createRepair } from '../../../conformance/engine/checks/repair.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import { findViolations, type Endpoint, type MessageName } from '../../../src/contract/index.ts';

/** Returns a body after the repairs of all its violations, and what they change. */
function repairAll(endpoint: Endpoint, message: MessageName, body: object) {
  const violations = findViolations(message, body);
  const repairs = violations.map((violation) => createRepair(violation, endpoint));
  const first = toExchange({
    record: 'exchange',
    id: 1,
    probe: 'preflight',
    step: 'plain',
    endpoint,
    intent: 'valid',
    request: { method: 'GET', path: '/', headers: {} },
    response: { status: 200, headers: {}, body: JSON.stringify(body) },
    startedMs: 0,
    endedMs: 1,
  });
  const { json } = repairs.reduce(
    (exchange: Exchange, repair) => toExchange({ ...exchange, ...repair.apply(exchange) }),
    first,
  );
  return { json, changes: repairs.map(({ description }) => description.replace(/^.*?: /, '')) };
}

void t.test('a repaired value is of the expected kind, and close to the wrong one', (t) => {
  const wrong = { status: 'up', timestamp: 'now', version: 2, uptime: '12.4', dependencies: [] };
  const { json, changes } = repairAll('health', 'Health', wrong);
  t.same(json, {
    status: 'healthy',
    timestamp: '2026-01-01T00:00:00Z',
    version: '2',
    uptime: 12,
    dependencies: {},
  });
  t.same(findViolations('Health', json), []);
  t.ok(changes.includes('make uptime an integer'), changes.join('\n'));
  t.end();
});

void t.test('literals and least numbers come from the schema', (t) => {
  const { json } = repairAll('end', 'ClosedConversation', {
    conversation_id: 'conv-1',
    run: 'Live traces',
    status: 'closed',
    evaluations_queued: -1,
    already_closed: 'yes',
  });
  t.match(json, { status: 'evaluating', evaluations_queued: 0, already_closed: true });
  t.same(findViolations('ClosedConversation', json), []);
  t.end();
});
