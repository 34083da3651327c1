/** The parameters of an eval, as the page of a scenario shows them. */
import t from 'tap';
import type { EvalDefinition } from '../../../../src/contract/index.ts';
import { listParameters } from '../../../../src/service/web/evals/eval-parameters.ts';

const list = (kind: EvalDefinition['kind'], params: Record<string, unknown>) =>
  listParameters({ id: 'e', name: 'E', kind, params }).map(
    ([name, value]) => `${name as string}: ${value as string}`,
  );

void t.test('parameters have the names of their fields, and choices those of their values', (t) => {
  t.same(list('contains', { text: 'please', in: 'any', absent: true }), [
    'Text: please',
    'In the messages of: both',
    'Passes if no message has it: yes',
  ]);
  t.same(list('max_turns', { max: 9 }), ['Maximum number of turns: 9']);
  t.same(list('contains', { text: 'please', absent: false }), ['Text: please']);
  t.end();
});

void t.test('a long parameter is cut', (t) => {
  const [criteria = ''] = list('judge', { criteria: 'x'.repeat(700) });
  t.match(criteria, /^Criteria: x{500} \[cut: 200 more characters\]$/);
  t.end();
});
