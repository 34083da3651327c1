/** Clients that read lists in pages: faulty ones, and unusual ones that the judgment must not blame. */
import t from 'tap';
import { createSeedDocument } from '../../conformance/proof/client/client-runs.ts';
import { isoTime, systemClock } from '../../src/platform/clock.ts';
import {
  end,
  read,
  readUntilEmpty,
  sendConversations,
  sendSpans,
} from '../support/conformance/client-requests.ts';
import { judgeRun, type ClientSetup, type Target } from '../support/conformance/judged-client.ts';
import { seedRun } from '../support/sessions/seeded-run.ts';
import { makeSpan } from '../support/traces/otlp.ts';

const seed = createSeedDocument(systemClock.nowMs());

/** More production sessions than a page has; the newest one is the conversation of the client. */
const productionSeed = {
  runs: [
    seedRun(
      'Nightly',
      Array.from({ length: 60 }, (_, index) => ({
        id: `conv-${index + 1}`,
        outcome: 'pass' as const,
        startedAt: isoTime(Date.UTC(2026, 10, 20) - index * 60_000),
      })),
    ),
  ],
};

/** Scores the conversations of the client, so that they have results. */
const scoring = {
  evals: [{ id: 'short', name: 'Short', kind: 'max_turns' as const, params: { max: 10 } }],
  settings: { evals: ['short'] },
};

interface Reader {
  run: (target: Target) => Promise<unknown>;
  fails?: string[];
  warns?: string[];
  setup?: ClientSetup;
}

const faultyReaders: Readonly<Record<string, Reader>> = {
  'a reader of the first page only': {
    run: (target) => read(target, '/api/simulations/sessions/'),
    setup: { seed },
    fails: ['CLIENT-054'],
  },
  'a reader that polls the newest page and never finds its conversation': {
    run: async (target) => {
      for (let count = 0; count < 3; count += 1) await read(target, '/api/simulations/sessions/');
    },
    setup: { seed },
    warns: ['CLIENT-057'],
  },
  'a reader whose skip stays the same': {
    run: async (target) => {
      for (let count = 0; count < 3; count += 1) {
        await read(target, '/api/simulations/sessions/?limit=20');
      }
    },
    setup: { seed },
    warns: ['CLIENT-057'],
  },
  'a reader of one page of a longer list': {
    run: (target) => read(target, '/api/simulations/sessions/?limit=50'),
    setup: { seed },
    warns: ['CLIENT-057'],
  },
  'a reader of one page that lacks conversations of the client': {
    run: async (target) => {
      await sendConversations(target, 60);
      await read(target, '/api/prod-evaluations/sessions/');
    },
    setup: { seed: scoring },
    warns: ['CLIENT-057'],
  },
  'a reader that stops before the last page': {
    run: async (target) => {
      await sendConversations(target, 12);
      await read(target, '/api/prod-evaluations/sessions/?limit=5');
      await read(target, '/api/prod-evaluations/sessions/?limit=5&skip=5');
    },
    setup: { seed: scoring },
    fails: ['CLIENT-054'],
  },
  'a reader that counts pages, not sessions, in skip': {
    run: async (target) => {
      await sendConversations(target, 9);
      for (const page of [0, 1, 2]) {
        await read(target, `/api/prod-evaluations/sessions/?limit=4&skip=${page}`);
      }
    },
    setup: { seed: scoring },
    fails: ['CLIENT-054'],
  },
  'a reader that counts sessions from 1': {
    run: async (target) => {
      for (const skip of [1, 26, 51]) {
        await read(target, `/api/simulations/sessions/?limit=25&skip=${skip}`);
      }
    },
    setup: { seed },
    fails: ['CLIENT-055'],
  },
  'a reader that steps by more than it got': {
    run: async (target) => {
      await read(target, '/api/simulations/sessions/?limit=20');
      await read(target, '/api/simulations/sessions/?limit=20&skip=40');
    },
    setup: { seed },
    fails: ['CLIENT-055'],
  },
};

const legalReaders: Readonly<Record<string, Reader>> = {
  'a reader that adds its limit to skip until a page is empty': {
    run: (target) => readUntilEmpty(target, 25),
    setup: { seed },
  },
  'a reader that asks for the total, and reads from the last page to the first': {
    run: async (target) => {
      const page = await read(target, '/api/simulations/sessions/?limit=1');
      const { total } = (await page.json()) as { total: number };
      for (let skip = total - (total % 25 || 25); skip >= 0; skip -= 25) {
        await read(target, `/api/simulations/sessions/?limit=25&skip=${skip}`);
      }
    },
    setup: { seed },
  },
  'a reader of the ten newest sessions': {
    run: (target) => read(target, '/api/simulations/sessions/?limit=10'),
    setup: { seed },
  },
  'a poll of the newest page until its own conversation appears': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await end(target);
      for (let isFound = false; !isFound;) {
        const page = await read(target, '/api/prod-evaluations/sessions/?limit=50');
        isFound = (await page.text()).includes('"conv-1"');
      }
    },
    setup: { seed: productionSeed },
  },
  'a search for each conversation, page by page': {
    run: async (target) => {
      await sendConversations(target, 9);
      for (const pages of [1, 2, 3]) {
        for (let page = 0; page < pages; page += 1) {
          await read(target, `/api/prod-evaluations/sessions/?limit=3&skip=${page * 3}`);
        }
      }
    },
    setup: { seed: scoring },
  },
  'a look at the newest of many conversations of the client': {
    run: async (target) => {
      await sendConversations(target, 60);
      await read(target, '/api/prod-evaluations/sessions/?limit=10');
    },
    setup: { seed: scoring },
  },
  'a search that ends at the only conversation of the client': {
    run: async (target) => {
      await sendConversations(target, 1);
      for (const skip of [0, 20, 40]) {
        const page = await read(target, `/api/prod-evaluations/sessions/?limit=20&skip=${skip}`);
        if ((await page.text()).includes('"conv-1"')) break;
      }
    },
    setup: { seed: productionSeed },
  },
  'a reader that continues where it stopped days ago': {
    run: async (target) => {
      for (const skip of [40, 50]) {
        await read(target, `/api/simulations/sessions/?limit=10&skip=${skip}`);
      }
    },
    setup: { seed },
  },
};

const readers = { ...faultyReaders, ...legalReaders };
for (const [name, { run, setup, fails = [], warns = [] }] of Object.entries(readers)) {
  void t.test(name, async (t) => {
    const { failed, warned } = await judgeRun(t, run, setup);
    t.same([failed, warned], [fails, warns]);
  });
}
