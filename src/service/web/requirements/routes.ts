import { html, withCode } from '../../../report-kit/html.ts';
import { formatValue } from '../../../contract/index.ts';
import type { KitFunctions, RequirementFacts } from '../../operations/kit-functions.ts';
import { RequestError } from '../../requests/errors.ts';
import { renderServicePage, type PageContext } from '../frame/page-frame.ts';
import type { Pages } from '../frame/pages.ts';

/** Adds the page that explains a requirement of the interface. */
export function addRequirementRoutes({ page }: Pages, kit: KitFunctions | undefined): void {
  page('/requirements/:id', async ({ context, params: { id } }) => {
    const found = await kit?.findRequirement(id);
    if (found) return renderRequirementPage(found, context);
    throw new RequestError('not_found', `There is no requirement ${formatValue(id)}.`);
  });
}

/** Says what each level asks of a sandbox. */
const LEVELS: Readonly<Record<RequirementFacts['level'], string>> = {
  must: 'Must: a sandbox that breaks it does not conform.',
  should: 'Should: breaking it is a warning.',
  target: 'Target: missing it is a warning.',
  may: 'May: it is only noted.',
};

function renderRequirementPage(
  { id, level, section, rule, reason }: RequirementFacts,
  context: PageContext,
): string {
  return renderServicePage(
    {
      title: id,
      section: 'Agents',
      main: html`<h1>${id}</h1>
        <p>${withCode(rule)}</p>
        <h2>Why it matters</h2>
        <p>${withCode(reason)}</p>
        <p class="soft">${LEVELS[level]} Section ${section} of the interface specification.</p>`,
    },
    context,
  );
}
