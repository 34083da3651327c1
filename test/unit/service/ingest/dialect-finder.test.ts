/** The search for the dialect of a span, which remembers what it found. */
import t from 'tap';
import { readTraceRequest, type TraceSpan } from '../../../../src/contract/index.ts';
import {
  createDialectFinder,
  type Dialect,
  type DialectTopic,
} from '../../../../src/service/ingest/dialects/dialect.ts';
import { dialects } from '../../../../src/service/ingest/dialects/table.ts';
import { makeWireRequest, makeWireSpan } from '../../../support/traces/span-sketch.ts';

const wire = makeWireSpan({ id: 'a1', attributes: { 'gen_ai.operation.name': 'chat' } });
const [span] = readTraceRequest(makeWireRequest([wire])).spans;
if (!span) throw new Error('The request has no span.');
const base: TraceSpan = { ...span, scope: 'app' };

void t.test('spans with the same keys get their own dialect by name, value, and operation', (t) => {
  const findDialect = createDialectFinder(dialects);
  const nameOf = (change: Partial<TraceSpan>, topic: DialectTopic): string | undefined =>
    findDialect({ ...base, ...change }, topic)?.name;
  const withValue = (key: string, value: string) => ({
    attributes: { ...base.attributes, [key]: value },
  });
  for (let round = 0; round < 2; round += 1) {
    t.equal(nameOf({ name: 'chat' }, 'withoutMessages'), undefined);
    t.equal(nameOf({ name: 'chat gpt #1' }, 'withoutMessages'), 'TanStack AI');
    t.equal(nameOf(withValue('gen_ai.system', 'openai'), 'withoutMessages'), undefined);
    t.equal(
      nameOf(withValue('gen_ai.system', 'strands-agents'), 'withoutMessages'),
      'Strands Agents',
    );
    t.equal(nameOf({}, 'withoutTurn'), undefined);
    t.equal(
      nameOf(withValue('gen_ai.operation.name', 'generate_content'), 'withoutTurn'),
      'Google GenAI',
    );
  }
  t.end();
});

void t.test('the dialect of many spans of one shape is searched once', (t) => {
  let searches = 0;
  const counted: Dialect = {
    name: 'Counted',
    withoutMessages: 'Set it.',
    get marks() {
      searches += 1;
      return [{ scopes: ['app'] }];
    },
  };
  const findDialect = createDialectFinder([counted]);
  const before = searches;
  for (let nth = 0; nth < 1_000; nth++) {
    const other = { ...base, spanId: nth.toString(16).padStart(16, '0'), startNs: BigInt(nth) };
    t.equal(findDialect(other, 'withoutMessages')?.name, 'Counted');
  }
  t.equal(searches - before, 1);
  t.end();
});
