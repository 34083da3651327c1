/**
 * `kill -9` of a service at named points of its transactions, while clients send spans and close
 * conversations: on SQLite and on PostgreSQL, alone and as one of three replicas.
 */
import { Agent } from 'undici';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import {
  drain,
  FIRST_ROUND_MS,
  planConversation,
  ROUND_MS,
  sendConversation,
  type PlannedConversation,
} from '../support/crashes/crash-clients.ts';
import { servicePoints } from '../support/crashes/crash-points.ts';
import { countRounds, runRounds, type CrashRound } from '../support/crashes/crash-rounds.ts';
import {
  assertComplete,
  CLIENTS,
  createDatabaseSite,
  createFileSite,
  keyOf,
  type Service,
  type Site,
} from '../support/crashes/crash-sites.ts';

const ROUNDS = countRounds(66, 6);
const CONVERSATIONS_PER_CLIENT = 10;
const PAUSE_MS = 20;
/** How long a client repeats its requests when the others must have taken over. */
const REPEAT_MS_MAX = 60_000;

/** Lets clients send to a victim and to other replicas until the victim is killed, or all is sent. */
async function sendUntilKilled(
  { number, chance }: CrashRound,
  victim: Service,
  others: readonly Service[],
  dispatcher: Agent,
): Promise<PlannedConversation[]> {
  const planned: PlannedConversation[] = [];
  const hasEnded = (): boolean =>
    victim.child.exitCode !== null || victim.child.signalCode !== null;
  const runClient = async (client: number): Promise<void> => {
    const clientChance = chance.fork(`client ${client}`);
    for (let nth = 0; nth < CONVERSATIONS_PER_CLIENT && !hasEnded(); nth += 1) {
      const startMs = FIRST_ROUND_MS + number * ROUND_MS + clientChance.integer(0, ROUND_MS / 2);
      const id = `r${number}-c${client}-${nth}`;
      const conversation = planConversation(clientChance, id, startMs);
      planned.push(conversation);
      const giveUpAtMs = systemClock.monotonicMs() + REPEAT_MS_MAX;
      for (;;) {
        const services = hasEnded() ? others : [victim, ...others];
        const service = services[clientChance.integer(0, services.length - 1)];
        // The caller sends the rest to the next process.
        if (!service) return;
        const key = keyOf(number, client);
        if (await sendConversation(conversation, { url: service.url, dispatcher, key })) break;
        if (systemClock.monotonicMs() > giveUpAtMs) throw new Error('Nothing is acknowledged.');
        await systemClock.sleep(PAUSE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client)));
  return planned;
}

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
    for (const [nth, conversation] of planned.entries()) {
      const all = [...conversation.traces, conversation.close];
      acknowledged += all.filter((request) => request.acknowledged).length;
      const key = keyOf(round.number, nth % CLIENTS);
      t.ok(await sendConversation(conversation, { url: service.url, dispatcher, key }), 'resent');
    }
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
