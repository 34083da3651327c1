/** What a finding says about a failed request that was sent again. */
import t from 'tap';
import { explainFailure } from '../../../conformance/engine/judge/failure-hints.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

type Outcome = Pick<ExchangeRecord, 'response' | 'failure'>;

const respond = (status: number): Outcome => ({ response: { status, headers: {}, body: '{}' } });
const timeout: Outcome = { failure: { kind: 'timeout', message: 'No response within 60 s.' } };

const exchange = (id: number, outcome: Outcome, repeats?: number): Exchange =>
  toExchange({
    record: 'exchange',
    id,
    probe: 'health',
    step: 'plain',
    endpoint: 'health',
    intent: 'open',
    startedMs: id,
    endedMs: id + 0.5,
    request: { method: 'GET', path: '/health', headers: {} },
    ...(repeats !== undefined && { repeats }),
    ...outcome,
  });

for (const [status, says] of [
  [
    201,
    'The same request succeeded when it was sent again (exchange 2): the fault is intermittent.',
  ],
  [401, 'The same request got 401 when it was sent again (exchange 2).'],
] as const) {
  void t.test(`a request that timed out, and got ${status} when it was sent again`, (t) => {
    const exchanges = [exchange(1, timeout), exchange(2, respond(status), 1)];
    const finding = { exchange: 1, expected: 'a response', received: 'none', pointer: '' };
    const transcript = { run: newRunRecord({ areas: ['health'], keyGiven: true }), exchanges };
    t.equal(explainFailure(finding, transcript).hint, says);
    t.end();
  });
}
