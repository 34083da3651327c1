/** The first failure of a service names its defect, not a consequence of the defect. */
import t from 'tap';
import {
  objectsAt,
  queryParameter,
  type ResultsObject,
} from '../../conformance/areas/service/results-api.ts';
import {
  doubleOutcomes,
  objectAt,
  onPages,
  onSessions,
} from '../../conformance/areas/service/transforms.ts';
import { chain } from '../../conformance/engine/mutants/combinators.ts';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { reportWith } from '../support/conformance/one-cause.ts';

const onAll = (edit: (session: ResultsObject) => void): TransformFactory =>
  chain(onSessions('production', edit), onSessions('simulations', edit));

/** A defect, the first requirement that fails, and its hint. */
const defects: readonly [string, TransformFactory, string, RegExp?][] = [
  [
    'each outcome stored twice',
    onSessions('production', doubleOutcomes),
    'SERVICE-122',
    /^Store one outcome for each eval: /,
  ],
  [
    'an empty link to a deleted simulation',
    onSessions('simulations', (session) => {
      session['url'] ??= '';
    }),
    'SERVICE-137',
    /^Send null as `url`/,
  ],
  [
    'an agent that must match by name and by URL',
    onPages(
      'simulations',
      (page) => Object.assign(page, { items: [], total: 0 }),
      ({ path }) => queryParameter(path, 'agent') !== undefined,
    ),
    'SERVICE-146',
    /^Keep a session if the value is anywhere in the name of its agent/,
  ],
  [
    'only the first part of each message',
    onSessions('production', (session) => {
      for (const turn of objectsAt(session, 'traces')) {
        const text = String(turn['agent_response']);
        // The message with markup has a single part.
        if (!text.includes('<b>')) turn['agent_response'] = text.replace(/ It goes to .*$/s, '');
      }
    }),
    'SERVICE-101',
    /^Join the texts of all parts of a message/,
  ],
];

for (const [title, transform, id, hint] of defects) {
  void t.test(`first reason: ${title}`, async (t) => {
    const report = await reportWith(transform);
    const [first] = report.requirements.filter(({ verdict }) => verdict === 'fail');
    t.equal(first?.id, id);
    if (hint) t.match(first?.hint, hint);
  });
}

void t.test('a number that is sent as text is not a contradiction', async (t) => {
  const { causes } = await reportWith(
    onAll((session) => {
      const summary = objectAt(session, 'outcome_summary');
      summary['pass_rate'] = String(summary['pass_rate']);
    }),
  );
  t.match(causes[0]?.description, /make items\[\]\.outcome_summary\.pass_rate a number/);
  t.notMatch(causes.map(({ description }) => description).join('\n'), /contradicts/);
});
