/**
 * `kill -9` of a service at named points of its transactions, while clients send spans and close
 * conversations: on SQLite and on PostgreSQL, alone and as one of three replicas.
 */
import { Agent } from 'undici';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import {
  drain,
  sendConversation,
  type PlannedConversation,
} from '../support/crashes/crash-clients.ts';
import { servicePoints } from '../support/crashes/crash-points.ts';
import { countRounds, runRounds, type CrashRound } from '../support/crashes/crash-rounds.ts';
import {
  assertComplete,
  createDatabaseSite,
  createFileSite,
  hasEnded,
  resend,
  runClients,
  type Service,
  type Site,
} from '../support/crashes/crash-sites.ts';

const ROUNDS = countRounds(66, 6);
const CONVERSATIONS_PER_CLIENT = 10;
const PAUSE_MS = 20;
/** How long a client repeats its requests when the others must have taken over. */
const REPEAT_MS_MAX = 60_000;

/** Lets clients send to a victim and to other replicas until the victim is killed, or all is sent. */
const sendUntilKilled = (
  round: CrashRound,
  victim: Service,
  others: readonly Service[],
  dispatcher: Agent,
): Promise<PlannedConversation[]> =>
  runClients(round, victim, CONVERSATIONS_PER_CLIENT, async (conversation, { key, chance }) => {
    const giveUpAtMs = systemClock.monotonicMs() + REPEAT_MS_MAX;
    for (;;) {
      const services = hasEnded(victim) ? others : [victim, ...others];
      const service = services[chance.integer(0, services.length - 1)];
      // The caller sends the rest to the next process.
      if (!service) return;
      if (await sendConversation(conversation, { url: service.url, dispatcher, key })) return;
      if (systemClock.monotonicMs() > giveUpAtMs) throw new Error('Nothing is acknowledged.');
      await systemClock.sleep(PAUSE_MS);
    }
  });

async function runServiceRounds(t: Test, site: Site, replicas: number, rounds: number) {
  const dispatcher = new Agent();
  t.teardown(() => dispatcher.destroy());
  const started = await Promise.all(Array.from({ length: replicas - 1 }, () => site.start()));
  const others = started.filter((service) => service !== undefined);
  let acknowledged = 0;
  await runRounds(t, rounds, servicePoints, async (round) => {
    const victim = await site.start(round.options);
    const planned = victim ? await sendUntilKilled(round, victim, others, dispatcher) : [];
    const wasKilled = !victim || victim.child.signalCode === 'SIGKILL';
    round.record(wasKilled);
    await victim?.end('SIGKILL');
    const service = others[0] ?? (await site.start());
    if (!service) throw new Error('A service that has no crash point ended.');
    const requests = planned.flatMap(({ traces, close }) => [...traces, close]);
    acknowledged += requests.filter((request) => request.acknowledged).length;
    await resend(t, round, service, planned, dispatcher);
    await site.endLeases();
    await drain(service);
    await assertComplete(t, round, site, service, planned);
    if (replicas === 1) await service.end('SIGKILL');
    for (const { child } of others) {
      t.same([child.exitCode, child.signalCode], [null, null], 'only the victim ended');
    }
  });
  t.comment(`${acknowledged} requests were acknowledged before a kill; none was lost or doubled.`);
}

const perSite = Math.ceil(ROUNDS / 3);

void t.test('one process on SQLite, killed at its points', { timeout: 0 }, (t) =>
  runServiceRounds(t, createFileSite(t), 1, perSite),
);

void t.test('one process on PostgreSQL, killed at its points', { timeout: 0 }, async (t) => {
  await runServiceRounds(t, await createDatabaseSite(t), 1, perSite);
});

void t.test('one of three replicas, killed at its points', { timeout: 0 }, async (t) => {
  await runServiceRounds(t, await createDatabaseSite(t), 3, perSite);
});
