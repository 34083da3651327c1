/** A hint fits the failure that it stands beside: it says what helps there, and not what helps elsewhere. */
import t, { type Test } from 'tap';
import { check, serviceArea } from '../../conformance/index.ts';
import { onHealth, set } from '../../conformance/engine/mutants/combinators.ts';
import { mutants, serviceMutants } from '../../conformance/areas/mutants.ts';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { startProxy } from '../../conformance/proof/proxy.ts';
import { startAgent } from '../../reference-agent/index.ts';
import type { Area, CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { isoTime, systemClock } from '../../src/platform/clock.ts';
import { withCheckedService } from '../helpers/checked-service.ts';

t.setTimeout(120_000);

async function reportThrough(
  t: Test,
  transform: TransformFactory,
  upstream: { url: string; apiKey?: string | undefined },
  areas: readonly Area[],
): Promise<CheckReport> {
  const clock = systemClock;
  const proxy = await startProxy({ upstream: upstream.url, transform: transform(), clock });
  t.teardown(() => proxy.stop());
  const { report } = await check({
    target: proxy.url,
    kitVersion: 'test',
    seed: 'hints',
    areas,
    apiKey: upstream.apiKey,
    intrusive: false,
  });
  return report;
}

const rowOf = (report: CheckReport, id: string): RequirementVerdict | undefined =>
  report.requirements.find((one) => one.id === id);

const rows: readonly (readonly [mutant: string, requirement: string, hint: RegExp | undefined])[] =
  [
    ['users/accepts-duplicates', 'USERS-066', /refuse one that exists: 409/],
    ['users/duplicate-500', 'USERS-066', /Catch the conflict of ids/],
    ['users/accepts-line-break', 'USERS-062', /\$ also matches before a line break/],
    ['users/accepts-dot', 'USERS-062', /^Letters, digits and _/],
    ['users/accepts-65-characters', 'USERS-063', /64 characters at most/],
    ['users/accepts-empty-id', 'USERS-064', /one character at least/],
    ['users/accepts-user-id-null', 'USERS-061', /is a string/],
    ['users/accepts-body-empty', 'USERS-065', /is JSON and an object/],
    ['users/no-object-500', 'USERS-065', /error of the JSON parser/],
    ['users/error-empty', 'USERS-070', /^The shape is/],
    ['chat/accepts-message-a-string', 'CHAT-061', /array of objects/],
    ['chat/accepts-messages-null', 'CHAT-061', /messages is there and is an array/],
    ['chat/accepts-role-tool', 'CHAT-063', /^Check the role/],
    ['chat/accepts-content-null', 'CHAT-065', /^Check that the content/],
    ['chat/content-null-500', 'CHAT-065', /answer 400/],
    ['chat/content-parts', 'CHAT-024', /^Join the parts/],
    ['chat/content-null', 'CHAT-024', /"" if there is nothing/],
    ['chat/confidence-percentage', 'CHAT-034', /not a percentage/],
    ['chat/confidence-a-string', 'CHAT-034', undefined],
    ['chat/tool-calls-null', 'CHAT-040', /^Leave tool_calls out/],
    ['chat/tool-call-a-string', 'CHAT-040', /array of objects/],
    ['chat/waits-for-tools', 'CHAT-046', /^Put what the tool gave/],
    ['chat/session-id-upper-case', 'CHAT-030', /letter for letter/],
    ['chat/session-id-cut', 'CHAT-030', /whole/],
    ['chat/session-id-prefixed', 'CHAT-030', /nothing added/],
    ['chat/session-id-its-own', 'CHAT-030', /request at hand/],
    ['service/traces-without-key', 'SERVICE-029', /^Check the key/],
    ['service/end-any-key', 'SERVICE-030', /^Check the key/],
    ['service/any-type-taken', 'SERVICE-022', /^Look at Content-Type/],
  ];

void t.test('each failure has the hint that fits it', async (t) => {
  const agent = await startAgent({ voice: null });
  t.teardown(() => agent.stop());
  const service = await withCheckedService(t);
  for (const [id, requirement, hint] of rows) {
    const mutant = [...mutants, ...serviceMutants].find((one) => one.id === id);
    if (!mutant) throw new Error(`there is no mutant ${id}`);
    const isOfService = mutant.areas === serviceArea || mutant.areas.includes('service');
    const upstream = isOfService ? service : { url: agent.url };
    const report = await reportThrough(t, mutant.transform, upstream, mutant.areas);
    const row = rowOf(report, requirement);
    t.equal(row?.verdict, 'fail', `${id} breaks ${requirement}`);
    if (hint) t.match(row?.hint, hint, id);
    else t.equal(row?.hint, undefined, `${id} has no hint`);
  }
});

const skews: readonly (readonly [offMs: number, received: RegExp, hint: RegExp])[] = [
  [200_000, /^3 min (19|20|21) s ahead$/, /NTP/],
  [-200_000, /^3 min (19|20|21) s behind$/, /NTP/],
  [7_200_000, /^(2 h|1 h 59 min|2 h 1 s) ahead$/, /local time/],
  [-5.5 * 3_600_000, /^5 h (30|29) min behind$/, /local time/],
  [-40 * 86_400_000, /^(40 d|39 d 23 h) behind$/, /NTP/],
];

void t.test('a clock that is off is told in units that people use', async (t) => {
  const agent = await startAgent({ voice: null });
  t.teardown(() => agent.stop());
  for (const [offMs, received, hint] of skews) {
    const now = (): string => isoTime(systemClock.nowMs() + offMs);
    const off = onHealth(set('/timestamp', now));
    const report = await reportThrough(t, off, { url: agent.url }, ['health']);
    const row = rowOf(report, 'HEALTH-033');
    t.equal(row?.verdict, 'note');
    t.match(row?.received, received);
    t.match(row?.hint, hint);
  }
});
