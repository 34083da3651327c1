/** The comparison of two simulations: the verdict about the runs, and how the scenarios changed. */
import t, { type Test } from 'tap';
import type { ScenarioResult } from '../../../../src/contract/index.ts';
import { seededRandom, type Random } from '../../../../src/platform/random.ts';
import {
  compareRuns,
  type ComparedRuns,
} from '../../../../src/service/runs/comparison/run-comparison.ts';
import { samplesToShow } from '../../../../src/service/runs/comparison/sample-size.ts';
import { summarizeScenario } from '../../../../src/service/runs/scenario-results.ts';
import { atNight } from '../../../support/nightly.ts';

type Samples = readonly [passed: number, failed: number, undecided?: number];

const toResult = (
  id: string,
  [passed, failed, undecided = 0]: Samples,
  evals?: ScenarioResult['evals'],
): ScenarioResult =>
  summarizeScenario(
    { id, name: id, personaName: 'Calm', requiredRate: 1, ...(evals && { evals }) },
    { passed, failed, undecided },
  );

/** Compares runs whose scenarios are named `1`, `2`, …: the samples before, then those now. */
const compare = (...scenarios: readonly (readonly [before: Samples, now: Samples])[]) =>
  compareRuns(
    scenarios.map(([, now], nth) => toResult(String(nth + 1), now)),
    scenarios.map(([before], nth) => toResult(String(nth + 1), before)),
  );

const repeat = <Item>(item: Item, count: number): Item[] =>
  Array.from({ length: count }, () => item);

void t.test('one sample of a scenario is not comparable, and the run says how many are', (t) => {
  const compared = compare(
    [
      [1, 0],
      [0, 1],
    ],
    [
      [0, 1],
      [1, 0],
    ],
  );
  t.match(compared, {
    verdict: 'not_comparable',
    p: null,
    samplesNeeded: 5,
    rows: [
      { change: 'not_comparable', reason: '1 sample each', p: null },
      { change: 'not_comparable', reason: '1 sample each' },
    ],
  });
  t.match(compared.sentence, "1 sample of 2 scenarios can't show any difference.");
  t.match(
    compared.sentence,
    'To see such changes of scenarios, run 5 samples of each scenario in both runs.',
  );
  t.match(
    compare([
      [3, 0],
      [0, 3],
    ]),
    { verdict: 'not_comparable', samplesNeeded: 4 },
  );
  t.match(
    compare([
      [4, 0],
      [0, 4],
    ]),
    { verdict: 'worse', rows: [{ change: 'regressed' }] },
  );
  t.end();
});

void t.test('all sessions together can show what no scenario shows alone', (t) => {
  const compared = compare(
    ...repeat(
      [
        [1, 0],
        [0, 1],
      ] as const,
      12,
    ),
  );
  t.match(compared, { verdict: 'worse', rows: repeat({ change: 'not_comparable' }, 12) });
  t.match(
    compared.sentence,
    '12 of 12 sessions passed before, 0 of 12 now (-100 points, p < 0.001).',
  );
  t.match(compared.sentence, 'got worse, but no single scenario shows it clearly.');
  t.equal(
    compare(
      ...repeat(
        [
          [0, 1],
          [1, 0],
        ] as const,
        12,
      ),
    ).verdict,
    'better',
  );
  t.end();
});

void t.test(
  'a difference that may be chance does not count, and the run says what would show it',
  (t) => {
    const compared = compare(
      ...repeat(
        [
          [4, 1],
          [5, 0],
        ] as const,
        3,
      ),
      [
        [5, 0],
        [4, 1],
      ],
    );
    t.match(compared, { verdict: 'no_difference' });
    t.same(
      compared.rows.map(({ change }) => change),
      repeat('unclear', 4),
    );
    t.match(
      compared.sentence,
      /^17 of 20 sessions passed before, 19 of 20 now \(\+10 points, p = [\d.]+\)\. That may be chance\. Runs of this size show a drop of about \d+ points or more\. To see a difference of this size, run \d+ samples/,
    );
    const same = compare([
      [5, 0],
      [5, 0],
    ]);
    t.match(same, { verdict: 'no_difference', samplesNeeded: undefined });
    t.notMatch(same.sentence, 'To see');
    t.end();
  },
);

void t.test('a scenario that regressed among others that vary makes the run worse', (t) => {
  const noise = [
    ...repeat(
      [
        [16, 4],
        [17, 3],
      ] as const,
      6,
    ),
    ...repeat(
      [
        [15, 5],
        [18, 2],
      ] as const,
      6,
    ),
  ];
  const compared = compare(
    [
      [16, 4],
      [2, 18],
    ],
    ...noise,
  );
  t.match(compared, { verdict: 'worse', rows: [{ change: 'regressed' }, { change: 'unclear' }] });
  t.match(
    compared.sentence,
    /now \([+-][\d.]+ points\)\. 1 scenario regressed \(p < 0.001\), but all sessions together show no clear difference\./,
  );
  const mixed = compare(
    [
      [20, 0],
      [0, 20],
    ],
    ...repeat(
      [
        [4, 16],
        [19, 1],
      ] as const,
      4,
    ),
  );
  t.match(mixed, { verdict: 'mixed' });
  t.match(
    mixed.sentence,
    'All sessions together got better; 1 scenario regressed, 4 scenarios improved.',
  );
  t.end();
});

void t.test('scenarios that say nothing about the agent are left out, with the reason', (t) => {
  const evals = (version: string, required = true) => [{ id: 'polite', version, required }];
  const [all, none]: Samples[] = [
    [9, 0],
    [0, 9],
  ];
  if (!all || !none) throw new Error('Two results are needed.');
  const before = [
    toResult('edited', all, evals('a')),
    toResult('optional', all, evals('a')),
    toResult('stopped', all),
    toResult('gone', all),
    toResult('kept', all, evals('a')),
  ];
  const now = [
    toResult('edited', none, evals('b')),
    toResult('optional', none, evals('a', false)),
    toResult('stopped', [0, 0, 9]),
    toResult('new', none),
    toResult('kept', all, evals('a')),
  ];
  const compared = compareRuns(now, before);
  t.equal(compared.verdict, 'no_difference');
  const found = new Map(compared.rows.map((row) => [row.scenario_id, row]));
  t.match(found.get('edited'), { change: 'not_comparable', reason: 'edited: polite', p: null });
  t.match(found.get('optional'), { change: 'not_comparable', reason: 'edited: polite' });
  t.match(found.get('stopped'), { change: 'not_comparable', reason: 'undecided now' });
  t.match(found.get('new'), { change: 'new', before: null });
  t.match(found.get('gone'), { change: 'gone', now: null });
  t.equal(found.get('kept')?.change, 'same');
  t.match(
    compared.sentence,
    'Not compared: 2 scenarios whose evals were edited; 1 scenario without a passed or failed ' +
      'session in one of the runs; 2 scenarios in only one of the runs.',
  );
  t.match(compareRuns([], before), { verdict: 'not_comparable', p: null });
  t.end();
});

/** Scales the samples of a scenario to another number. */
const scale = ([passed, failed]: Samples, samples: number): Samples => {
  const scaled = Math.round((passed / (passed + failed)) * samples);
  return [scaled, samples - scaled];
};

/** Lists the outcomes of so many samples in two runs of so many scenarios; all of them, or every nth. */
function listOutcomes(scenarios: number, samples: number, nth: number) {
  const one = Array.from({ length: (samples + 1) ** 2 }, (_, index) => {
    const [before, now] = [Math.floor(index / (samples + 1)), index % (samples + 1)];
    return [
      [before, samples - before],
      [now, samples - now],
    ] as const;
  });
  let all: (readonly (typeof one)[number][])[] = [[]];
  for (let left = scenarios; left > 0; left -= 1) {
    all = all.flatMap((outcomes) => one.map((outcome) => [...outcomes, outcome]));
  }
  return all.filter((_outcomes, index) => index % nth === 0);
}

void t.test(
  'so many samples as a run suggests show the same differences, by the same test',
  (t) => {
    const hidden: string[] = [];
    let suggestions = 0;
    for (const [scenarios, samples, nth] of [
      [1, 1, 1],
      [1, 3, 1],
      [1, 8, 1],
      [2, 1, 1],
      [2, 2, 1],
      [2, 4, atNight(1, 3)],
      [3, 1, 1],
      [3, 2, atNight(1, 5)],
      [4, 1, 1],
    ] as const) {
      for (const outcomes of listOutcomes(scenarios, samples, nth)) {
        const { samplesNeeded = Infinity } = compare(...outcomes);
        const isChanged = outcomes.some(([before, now]) => before[0] !== now[0]);
        if (!isChanged || samplesNeeded > 1_000) continue;
        suggestions += 1;
        const again = outcomes.map(
          ([before, now]) => [scale(before, samplesNeeded), scale(now, samplesNeeded)] as const,
        );
        const { verdict } = compare(...again);
        if (['worse', 'better', 'mixed'].includes(verdict)) continue;
        hidden.push(`${JSON.stringify(outcomes)} with ${samplesNeeded} samples: ${verdict}`);
      }
    }
    t.ok(suggestions > 300, `${suggestions} suggestions`);
    t.same(hidden, []);
    t.end();
  },
);

void t.test(
  'without any change, the suggested number shows a scenario that always fails now',
  (t) => {
    for (const scenarios of [1, 2, 3, 4, 5]) {
      const same = repeat([[1, 0] as const, [1, 0] as const] as const, scenarios);
      const { samplesNeeded = 0, sentence } = compare(...same);
      t.match(
        sentence,
        /To see that a scenario which always passed now always fails, run \d+ samples/,
      );
      const reversed = [[samplesNeeded, 0] as const, [0, samplesNeeded] as const] as const;
      for (const passed of [samplesNeeded, Math.floor(samplesNeeded / 2), 0]) {
        const other = [passed, samplesNeeded - passed] as const;
        const others = repeat([other, other] as const, scenarios - 1);
        t.match(compare(reversed, ...others), { verdict: 'worse' }, `${samplesNeeded} samples`);
      }
    }
    t.end();
  },
);

/** Draws the results of a run with these pass rates. */
const draw = (random: Random, rates: readonly number[], samples: number): ScenarioResult[] =>
  rates.map((rate, nth) => {
    const passed = repeat(rate, samples).filter((each) => random.fraction() < each).length;
    return toResult(String(nth), [passed, samples - passed]);
  });

/** Returns the share of drawn comparisons with a property. */
function measureShare(
  seed: string,
  runs: { before: readonly number[]; now: readonly number[]; samples: number; count: number },
  isHit: (compared: ComparedRuns) => boolean,
): number {
  const random = seededRandom(seed);
  const { before, now, samples, count } = runs;
  const hits = repeat(samples, count).filter((each) =>
    isHit(compareRuns(draw(random, now, each), draw(random, before, each))),
  );
  return hits.length / count;
}

const isContradictory = ({ verdict, rows }: ComparedRuns): boolean => {
  const has = (change: string): boolean => rows.some((row) => row.change === change);
  if (has('regressed')) return !['worse', 'mixed'].includes(verdict);
  return has('improved') && !['better', 'mixed'].includes(verdict);
};

const COUNT = atNight(4_000, 400);

function checkFalseAlarms(t: Test, rates: readonly number[], samples: number): void {
  const runs = { before: rates, now: rates, samples, count: COUNT };
  let contradictions = 0;
  const share = measureShare(`alarms ${samples}`, runs, (compared) => {
    contradictions += Number(isContradictory(compared));
    return !['no_difference', 'not_comparable'].includes(compared.verdict);
  });
  t.equal(contradictions, 0);
  t.ok(share <= 0.05, `${samples} samples of ${rates.length} scenarios: ${share}`);
}

void t.test('identical agents differ in at most 5% of comparisons', (t) => {
  for (const samples of atNight([1, 5, 20], [5])) {
    checkFalseAlarms(t, repeat(0.5, 12), samples);
    checkFalseAlarms(t, [1, 0.95, 0.9, 1, 0.8, 1, 0.9, 0.95, 1, 0.85, 0.9, 1], samples);
    checkFalseAlarms(t, repeat(0.9, 40), samples);
  }
  checkFalseAlarms(t, [0.7], 30);
  t.end();
});

void t.test('the suggested number of samples shows the difference in 4 of 5 comparisons', (t) => {
  for (const [rate, drop] of [
    [0.9, 0.2],
    [0.8, 0.4],
    [1, 0.25],
  ] as const) {
    const rates = { before: repeat(rate, 12), now: repeat(rate - drop, 12) };
    const samples = Math.ceil(samplesToShow(rate, rate - drop, 12) / 12);
    const isWorse = ({ verdict }: ComparedRuns): boolean => verdict === 'worse';
    const share = measureShare('power', { ...rates, samples, count: COUNT }, isWorse);
    t.ok(share > 0.75, `${drop} below ${rate}, ${samples} samples: ${share}`);
    const less = { ...rates, samples: Math.max(1, Math.floor(samples / 3)), count: COUNT };
    t.ok(measureShare('less', less, isWorse) < share, 'fewer samples show it less often');
  }
  t.end();
});
