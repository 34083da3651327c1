/** Requirement sets: a released set never changes, and every requirement is in a set. */
import t from 'tap';
import kit from '../../../package.json' with { type: 'json' };
import releases from '../../../conformance/requirement-sets.json' with { type: 'json' };
import {
  currentLevels,
  digestOf,
  findProblems,
  updateReleases,
} from '../../../conformance/release-requirements.ts';
import { createRequirementSets, sinceOf } from '../../../conformance/requirement-sets.ts';

void t.test('every requirement is in a set, and no released set changed', (t) => {
  t.same(findProblems(releases, currentLevels, kit.version), []);
  t.end();
});

const rows = { 'CHAT-001': 'must', 'CHAT-002': 'should' };
const frozen = { '0.2': { digest: digestOf({ requirements: rows }), requirements: rows } };

void t.test('a requirement without a set is a problem, until it is added to a later set', (t) => {
  const levels = { ...rows, 'CHAT-003': 'must' };
  t.same(findProblems(frozen, levels, '0.2.0'), [
    'CHAT-003 is in no requirement set. Run npm run requirements.',
  ]);
  const updated = updateReleases(frozen, levels, '0.2.0');
  t.same(updated, { ...frozen, '0.3': { digest: null, requirements: { 'CHAT-003': 'must' } } });
  t.same(findProblems(updated, levels, '0.2.5'), []);
  t.end();
});

void t.test('a released set never changes', (t) => {
  const set = frozen['0.2'];
  const added = { '0.2': { ...set, requirements: { ...rows, 'CHAT-003': 'must' } } };
  t.match(findProblems(added, { ...rows, 'CHAT-003': 'must' }, '0.2.0'), [
    /The frozen set 0\.2 changed\. Restore it/,
  ]);
  t.match(findProblems(frozen, { 'CHAT-001': 'must' }, '0.2.0'), [
    /CHAT-002 of the frozen set 0\.2 does not exist\. Restore it with the level may/,
  ]);
  t.match(findProblems(frozen, { ...rows, 'CHAT-002': 'must' }, '0.2.0'), [
    /CHAT-002 of the frozen set 0\.2 became stricter \(should to must\)\. Add a new id instead/,
  ]);
  const twice = { ...frozen, '0.3': { digest: null, requirements: { 'CHAT-001': 'must' } } };
  t.match(findProblems(twice, rows, '0.2.0'), [
    /CHAT-001 is in two requirement sets: 0\.2 and 0\.3/,
  ]);
  t.end();
});

void t.test('a released set may become looser', (t) => {
  t.same(findProblems(frozen, { 'CHAT-001': 'should', 'CHAT-002': 'target' }, '0.2.0'), []);
  t.end();
});

void t.test('the next set is open until its release, and then frozen', (t) => {
  const open = updateReleases({}, rows, '0.1.0');
  t.same(open, { '0.2': { digest: null, requirements: rows } });
  t.match(findProblems(open, { ...rows, 'CHAT-002': 'must' }, '0.1.0'), [
    /Set 0\.2 is out of date/,
  ]);
  const changed = updateReleases(open, { 'CHAT-001': 'must' }, '0.1.0');
  t.same(changed, { '0.2': { digest: null, requirements: { 'CHAT-001': 'must' } } });
  t.match(findProblems(open, rows, '0.2.0'), [/Set 0\.2 is released, but not frozen/]);
  const released = updateReleases(open, rows, '0.2.0');
  t.same(released, frozen);
  t.same(findProblems(released, rows, '0.2.0'), []);
  t.same(updateReleases(released, rows, '0.2.1'), frozen, 'nothing to add');
  t.end();
});

void t.test('a set has the requirements of all releases before it, by number', (t) => {
  const sets = createRequirementSets({
    '0.10': { digest: null, requirements: { 'CHAT-003': 'must' } },
    '0.9': { digest: null, requirements: { 'CHAT-001': 'must' } },
  });
  t.same(
    sets.map(({ name, ids }) => [name, ...ids]),
    [
      ['0.9', 'CHAT-001'],
      ['0.10', 'CHAT-001', 'CHAT-003'],
    ],
  );
  t.equal(sinceOf('CHAT-024'), '0.2');
  t.equal(sinceOf('CHAT-999'), undefined);
  t.end();
});
