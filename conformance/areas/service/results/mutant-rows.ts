import type { RequirementId } from '../../../engine/requirement.ts';
import { mutantsOf, type Mutant, type TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { Item, Results } from '../edits.ts';

const mutant = mutantsOf('service');

/** What the rules that both endpoints share are called for one of them. */
type Ids = Readonly<Record<Rule, RequirementId>>;
type Rule =
  | ('answered' | 'envelope' | 'defaults' | 'cap' | 'window' | 'paging' | 'order' | 'times')
  | ('summary' | 'outcomes' | 'absent' | 'present' | 'name' | 'eval' | 'failing' | 'failingOnly')
  | ('wholeSummary' | 'failingTotal' | 'after' | 'before' | 'owner' | 'link' | 'rate')
  | ('sequence' | 'ends' | 'listed' | 'counts');

const production: Ids = {
  answered: 'SERVICE-070',
  envelope: 'SERVICE-071',
  defaults: 'SERVICE-075',
  cap: 'SERVICE-077',
  window: 'SERVICE-078',
  paging: 'SERVICE-080',
  order: 'SERVICE-081',
  times: 'SERVICE-090',
  summary: 'SERVICE-092',
  outcomes: 'SERVICE-093',
  absent: 'SERVICE-097',
  present: 'SERVICE-098',
  name: 'SERVICE-110',
  eval: 'SERVICE-111',
  failing: 'SERVICE-112',
  failingOnly: 'SERVICE-113',
  wholeSummary: 'SERVICE-115',
  failingTotal: 'SERVICE-116',
  after: 'SERVICE-117',
  before: 'SERVICE-118',
  owner: 'SERVICE-121',
  link: 'SERVICE-083',
  rate: 'SERVICE-123',
  sequence: 'SERVICE-124',
  ends: 'SERVICE-125',
  counts: 'SERVICE-094',
  listed: 'SERVICE-095',
};

const simulations: Ids = {
  answered: 'SERVICE-130',
  envelope: 'SERVICE-131',
  defaults: 'SERVICE-132',
  cap: 'SERVICE-133',
  window: 'SERVICE-134',
  paging: 'SERVICE-135',
  order: 'SERVICE-136',
  times: 'SERVICE-141',
  summary: 'SERVICE-142',
  outcomes: 'SERVICE-143',
  absent: 'SERVICE-144',
  present: 'SERVICE-145',
  name: 'SERVICE-146',
  eval: 'SERVICE-148',
  failing: 'SERVICE-149',
  failingOnly: 'SERVICE-150',
  wholeSummary: 'SERVICE-151',
  failingTotal: 'SERVICE-152',
  after: 'SERVICE-153',
  before: 'SERVICE-154',
  owner: 'SERVICE-156',
  link: 'SERVICE-137',
  rate: 'SERVICE-159',
  sequence: 'SERVICE-160',
  ends: 'SERVICE-161',
  counts: 'SERVICE-157',
  listed: 'SERVICE-158',
};

/** A mutant of either endpoint: its name, what it does wrong, which rules it breaks, and how. */
export type Row = readonly [
  name: string,
  breaks: string,
  rules: readonly Rule[],
  change: TransformFactory,
];

/** How a mutant of either endpoint is written. */
export function written(of: Results, rows: readonly Row[], more: Partial<Mutant> = {}): Mutant[] {
  const ids = of === 'production' ? production : simulations;
  return rows.map(([name, breaks, rules, change]) =>
    mutant(
      `${of}-${name}`,
      breaks,
      rules.map((rule) => ids[rule]),
      change,
      more,
    ),
  );
}

/** Puts a value under a key. */
export const put =
  (key: string, value: unknown) =>
  (page: Item): void => {
    page[key] = value;
  };
/** Takes a key away. */
export const take =
  (key: string) =>
  (page: Item): void => {
    Reflect.deleteProperty(page, key);
  };
