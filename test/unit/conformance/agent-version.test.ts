/** Which version of the agent a report names. */
import t from 'tap';
import {
  describeVersionChange,
  findAgentVersion,
} from '../../../conformance/reports/agent-version.ts';

const makeExchanges = (...versions: readonly (string | undefined)[]) =>
  versions.map((version) => ({
    endpoint: 'health',
    json: { status: 'healthy', version },
  })) as never;

void t.test('a version that changes during a run is noticed', (t) => {
  const changed = makeExchanges('1.0.0', '1.0.0', undefined, '1.1.0');
  t.same(findAgentVersion(changed), { agentVersion: '1.1.0' }, 'the newest one');
  t.match(describeVersionChange(changed), [/changed during the run: 1\.0\.0 and 1\.1\.0\./]);
  t.same(describeVersionChange(makeExchanges('1.0.0', undefined, '1.0.0')), []);
  t.same(describeVersionChange(makeExchanges(undefined)), []);
  t.end();
});
