/** The hint about a filter follows from what its reads list, not from the values that they send. */
import t from 'tap';
import { serviceSuite } from '../../../conformance/areas/index.ts';
import type { ResultsStep } from '../../../conformance/areas/service/steps.ts';
import type { Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import { makeProductionRead } from '../../support/conformance/production-read.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

const run = newRunRecord({ startedAt: '2026-11-20T12:30:00.000Z' });

const session = (id: string, name: string, startedAt: string) => ({
  url: `https://app.example/production-eval/e?sessionId=${id}`,
  run: name,
  source_session_id: id,
  started_at: startedAt,
  outcome_summary: { total_evaluations: 1 },
  eval_outcomes: [{ eval_name: `Grüße ${name}`, outcome: 'fail' }],
});

const first = session('s-one', 'Late Parcels', '2026-11-20T09:00:00Z');
const second = session('s-two', 'Orders', '2026-11-20T11:00:00Z');
const all = [first, second];

let id = 0;

function read(
  step: ResultsStep,
  query: Record<string, string>,
  items: readonly object[],
): Exchange {
  id += 1;
  return makeProductionRead({ id, step, query, items });
}

type FilterId = 'SERVICE-110' | 'SERVICE-111' | 'SERVICE-117' | 'SERVICE-118';

/** Returns the hints of a requirement for the reads with a filter. */
const hintsOf = (requirement: FilterId, ...reads: Exchange[]): (string | undefined)[] =>
  hintsAmong(all, requirement, ...reads);

function hintsAmong(
  sessions: readonly object[],
  requirement: FilterId,
  ...reads: Exchange[]
): (string | undefined)[] {
  const exchanges = [read('whole', {}, sessions), ...reads, read('whole again', {}, sessions)];
  const transcript = { run, exchanges };
  const check = serviceSuite.checks[requirement];
  const findings = check?.judge(check.evidence(transcript), transcript) ?? [];
  return findings.map(({ hint }) => hint);
}

const TEN_O_CLOCK = { started_after: '2026-11-20T10:00:00Z' };
const TEN = { started_before: '2026-11-20T10:00:00Z' };
const none = read('run none', { run: 'no such name' }, []);

void t.test('a name that is not found by a part of it in upper case', (t) => {
  const [hint, ...others] = hintsOf('SERVICE-110', read('run', { run: 'ATE PARCEL' }, []), none);
  t.match(hint, /^The value is a part of the name in upper case\. Find it anywhere .* a space\.$/);
  t.notMatch(hint, /Ü/, 'the value has no such letter');
  t.same(others, []);
  t.end();
});

void t.test('a name that is found only as it is written', (t) => {
  const query = { eval: 'rüße Late', failed_only: 'true' };
  const asWritten = read('eval and failed only', query, [first]);
  const [hint] = hintsOf('SERVICE-111', read('eval', { eval: 'RÜßE LATE' }, []), asWritten);
  t.match(hint, /^Ignore the case of all letters, such as Ü and ü/);
  t.end();
});

void t.test('a filter that has no effect', (t) => {
  const ignored = [
    read('run', { run: 'ATE PARCEL' }, all),
    read('run none', { run: 'no such name' }, all),
  ];
  for (const hint of hintsOf('SERVICE-110', ...ignored)) t.match(hint, /^Apply `run`: /);
  const [late] = hintsOf('SERVICE-117', read('started after', TEN_O_CLOCK, all));
  t.match(late, /^Apply `started_after`: /);
  t.end();
});

void t.test('wildcards, other fields, and other times', (t) => {
  const right = read('run', { run: 'ATE PARCEL' }, [first]);
  const rows = [
    [read('run with %', { run: 'ate P%rcel' }, [first]), /^Match % in `run` literally/],
    [
      read('run by session id', { run: '-on' }, [first]),
      /^Search only the name for `run`: .* `source_session_id`/,
    ],
  ] as const;
  for (const [page, hint] of rows) {
    t.match(hintsOf('SERVICE-110', right, none, page)[0], hint);
  }
  const [hint] = hintsOf('SERVICE-117', read('started after', TEN_O_CLOCK, []));
  t.match(hint, /^Compare `started_at` of sessions, not another time, with `started_after`/);
  t.end();
});

const withEvals = (id: string, ...names: string[]) => ({
  ...session(id, 'Orders', '2026-11-20T09:00:00Z'),
  eval_outcomes: names.map((name) => ({ eval_name: name, outcome: 'fail' })),
});

void t.test('a filter that looks only at some outcomes of a session', (t) => {
  const [both, tone, promise] = [
    withEvals('s-both', 'Check tone A', 'Check promise A'),
    withEvals('s-tone', 'Check tone A'),
    withEvals('s-promise', 'Check promise A', 'Check tone A'),
  ];
  const sessions = [both, tone, promise];
  const hintOf = (...items: object[]): string | undefined =>
    hintsAmong(sessions, 'SERVICE-111', read('eval', { eval: 'HECK TONE' }, items))[0];
  t.match(hintOf(tone), /^One matching outcome is enough/);
  t.match(hintOf(both, tone), /^Search all outcomes of a session: .* first outcome matches/);
  t.match(hintOf(tone, promise), /^Search all outcomes of a session: .* last outcome matches/);
  t.match(hintOf(), /^The value is a part of the name in upper case/, 'nothing shows the cause');
  t.equal(hintOf(both), undefined, 'none of these filters explains the list');
  t.end();
});

void t.test('a filter that loses only sessions of deleted simulations', (t) => {
  const deleted = { ...session('s-deleted', 'Late Parcels', '2026-11-20T09:30:00Z'), url: null };
  const sessions = [first, deleted, second];
  const hintOf = (...items: object[]): string | undefined =>
    hintsAmong(sessions, 'SERVICE-110', read('run', { run: 'ATE PARCEL' }, items), none)[0];
  t.match(hintOf(first), /^List sessions of deleted simulations, too/);
  t.match(hintOf(), /^The value is a part of the name/, 'it loses others, too');
  t.end();
});

void t.test('a bound that is compared by its date', (t) => {
  const third = session('s-three', 'Orders', '2026-11-20T09:30:00Z');
  const hintOf = (...items: object[]): string | undefined => {
    // It is read after the whole list.
    const page = { ...read('started before', TEN, items), id: 1_000 };
    return hintsAmong([first, third, second], 'SERVICE-118', page)[0];
  };
  t.match(hintOf(), /^Compare the whole time of `started_before` as an instant, not only its date/);
  t.match(hintOf(third), /^Compare `started_at` of sessions, not another time/);
  t.end();
});
