/** `npm run ledger`: prints how many statements of the specification the requirements cover. */
import statements from './statements.json' with { type: 'json' };
import { allAreas, allRequirementIds, idsOf, requirement, untestable } from './areas/index.ts';

const covered = new Set(allRequirementIds.flatMap((id) => requirement(id).statements));
const reasoned = new Set(untestable.flatMap((row) => row.statements));

const sections = new Map<string, { all: number; checked: number; reasoned: number }>();
for (const { id, section, area } of statements) {
  const key = `${area === 'A' ? 'service' : 'sandbox'} ${section.replace(/\.b\d*$|\.b$/, '')}`;
  const row = sections.get(key) ?? { all: 0, checked: 0, reasoned: 0 };
  row.all++;
  if (covered.has(id)) row.checked++;
  else if (reasoned.has(id)) row.reasoned++;
  sections.set(key, row);
}

console.log('section             statements   checked   not observable   not in this suite');
for (const [name, { all, checked, reasoned: untested }] of sections) {
  const cells = [all, checked, untested, all - checked - untested];
  console.log(`${name.padEnd(18)}${cells.map((cell) => String(cell).padStart(13)).join('')}`);
}
for (const area of allAreas) console.log(`${area}: ${idsOf(area).length} requirements`);
