import type { Html } from '../../../report-kit/html.ts';
import { linkTo, renderTabs, type PageContext } from '../frame/page-frame.ts';

/** The lists of the page `/sessions`. */
const SESSION_LISTS = {
  production: 'Production',
  simulation: 'Simulation',
  open: 'Open conversations',
  unscored: 'Not scored',
} as const;

/** Renders links to the lists of sessions and conversations. */
export const renderSessionTabs = (context: PageContext, shown: keyof typeof SESSION_LISTS): Html =>
  renderTabs(
    'Lists',
    Object.entries(SESSION_LISTS).map(([kind, name]) => ({
      url: linkTo(context, '/sessions', { kind }),
      name,
      isCurrent: kind === shown,
    })),
  );
