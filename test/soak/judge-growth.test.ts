/** The judge of long runs finds planted growth, and accepts what does not grow. */
import t from 'tap';
import { seededRandom } from '../../src/platform/random.ts';
import { judgeGrowth, type Measure, type Sample } from '../support/soak/judge-growth.ts';

const MINUTES = 90;
const JUDGED = { from: 27, to: MINUTES };
const SAMPLES = MINUTES * 2;
const REQUESTS_PER_MINUTE = 150;
const SEEDS = 40;
const heap: Measure = { name: 'heap', unit: 'bytes', tolerance: { share: 0.03, least: 1_000_000 } };
const sessions: Measure = {
  name: 'sessions',
  unit: 'count',
  tolerance: { share: 0, least: 50 },
  growth: { by: 'sessions', perUnitMax: 1.01, reason: 'sessions are kept' },
};
const file: Measure = {
  name: 'file',
  unit: 'bytes',
  tolerance: { share: 0.03, least: 1_000_000 },
  growth: { by: 'sessions', perUnitMax: 8_000, reason: 'sessions are kept' },
};

type Shape = (minute: number, noise: () => number) => number;

/** Returns the verdicts of a measure over several seeds. */
function judgeShape(measure: Measure, shape: Shape, others: Record<string, Shape> = {}): string[] {
  const measures = [measure, ...(measure.growth ? [sessions] : [])];
  const verdicts = Array.from({ length: SEEDS }, (_, seed) => {
    const chance = seededRandom(`soak ${seed}`);
    const noise = (): number => chance.fraction() - 0.5;
    const draw = (of: Shape): Sample[] =>
      Array.from({ length: SAMPLES }, (_, nth) => {
        const at = ((nth + 1) * MINUTES) / SAMPLES;
        return { at, values: [of(at, noise)] };
      });
    const shapes = { ...others, [measure.name]: shape };
    const samples = Object.entries(shapes).map(([name, of]) => [name, draw(of)] as const);
    return judgeGrowth(measures, new Map(samples), JUDGED)[0]?.verdict ?? '';
  });
  return [...new Set(verdicts)];
}

const LEVEL = 45e6;
const warm: Shape = (minute) => LEVEL - 20e6 * Math.exp(-minute / 4);

void t.test('a heap that keeps its size is flat', (t) => {
  const steady: Shape = (minute, noise) => warm(minute, noise) + 1e6 * noise();
  t.same(judgeShape(heap, steady), ['flat'], 'with noise, and growth only in the warm-up');
  const sawtooth: Shape = (minute, noise) => steady(minute, noise) + 3e5 * (minute % 6);
  t.same(judgeShape(heap, sawtooth), ['flat'], 'with a period of minutes');
  const outliers: Shape = (minute, noise) => steady(minute, noise) + (noise() > 0.48 ? 30e6 : 0);
  t.same(judgeShape(heap, outliers), ['flat'], 'with outliers');
  t.same(
    judgeShape(heap, (minute) => LEVEL - 1e5 * minute),
    ['flat'],
    'a falling one',
  );
  t.end();
});

void t.test('a leak of 1 kB for each request is found', (t) => {
  const leaking: Shape = (minute, noise) =>
    warm(minute, noise) + 1e6 * noise() + 1_000 * REQUESTS_PER_MINUTE * minute;
  t.same(judgeShape(heap, leaking), ['unexplained']);
  const explained = { growth: { by: 'sessions', perUnitMax: 8_000, reason: 'kept' } };
  const none = { sessions: () => 500 };
  t.same(judgeShape({ ...heap, ...explained }, leaking, none), ['unexplained'], 'without sessions');
  t.end();
});

void t.test('growth in proportion to what is kept is explained, and more is not', (t) => {
  const kept = { sessions: (minute: number) => 42 * minute };
  const grow =
    (bytesPerSession: number): Shape =>
    (minute, noise) =>
      5e6 + 2e5 * noise() + bytesPerSession * 42 * minute;
  t.same(
    judgeShape(sessions, (minute) => 42 * minute),
    ['explained'],
  );
  t.same(judgeShape(file, grow(5_000), kept), ['explained']);
  t.same(judgeShape(file, grow(12_000), kept), ['unexplained']);
  t.end();
});

void t.test('samples that leave growth open prove nothing', (t) => {
  const samples = new Map([['heap', [{ at: 40, values: [LEVEL] }]]]);
  t.match(judgeGrowth([heap], samples, JUDGED), [{ verdict: 'not proven' }], 'one sample');
  t.match(judgeGrowth([heap], new Map(), JUDGED), [{ verdict: 'not proven' }], 'no sample');
  const wild: Shape = (_, noise) => LEVEL + 30e6 * noise();
  t.notOk(judgeShape(heap, wild).includes('unexplained'), 'values that vary by half');
  t.end();
});
