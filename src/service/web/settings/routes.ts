import { schemas, type LiveSettings } from '../../../contract/index.ts';
import { isoDate, type Clock } from '../../../platform/clock.ts';
import { awaitValues } from '../../../platform/concurrency.ts';
import { findLiveEvals } from '../../evals/definitions.ts';
import { missingJudgeWarnings } from '../../model/missing-models.ts';
import type { Backlog } from '../../operations/backlog.ts';
import { changeSettings, type FindSettingsWarnings } from '../../operations/settings.ts';
import { InvalidDocumentError, RequestError } from '../../requests/errors.ts';
import type { Store } from '../../store/store.ts';
import { findChanged, makeVersion } from '../frame/edits.ts';
import { findFieldProblems, isFlawless } from '../frame/field-problems.ts';
import { readText, readTexts } from '../frame/forms.ts';
import { goTo, type Pages } from '../frame/pages.ts';
import { BACKLOG_LIVE_PATH, renderBacklog, type ShownBacklog } from './backlog.ts';
import {
  describeSettings,
  renderSettingsPage,
  type SettingsPage,
  type SettingsProblems,
} from './settings-page.ts';

/** The data and operations of the settings page. */
export interface SettingsPageOptions {
  store: Pick<Store, 'evals' | 'settings' | 'conversations' | 'owners'>;
  /** The service clock. */
  clock: Clock;
  backlog: Backlog;
  findWarnings: FindSettingsWarnings;
  /** Whether an LLM judge is configured. */
  hasJudge: boolean;
}

const PROBLEMS = { run_name: 'The base name must have 1 to 200 characters on one line.' };

const EVALS_MAX = schemas.LiveSettings.properties.evals.maxItems;

/** `/settings`: the settings of live traces (spec 2.2), and the backlog (spec 3.1). */
export function addSettingsRoutes({ page, form, live }: Pages, options: SettingsPageOptions): void {
  live(BACKLOG_LIVE_PATH, ({ ownerId, context }) => async () => {
    return renderBacklog(await loadBacklog(options, ownerId), context);
  });
  page('/settings', async ({ ownerId, context }) =>
    renderSettingsPage(await loadPage(options, ownerId), context),
  );
  form('/settings', async ({ ownerId, context, form: sent }) => {
    const evals = readTexts(sent, 'evals').filter((id) => id !== '');
    const entered = { evals, run_name: readText(sent, 'run_name') };
    const scores = readText(sent, 'then') === 'score';
    const stored = await loadPage(options, ownerId);
    const changed = findChanged(sent, stored.edit.version, {
      saved: describeSettings(stored.settings, stored.evals),
      entered: describeSettings(entered, stored.evals),
    });
    if (changed) {
      const edit = { ...stored.edit, changed };
      const shown = { ...stored, settings: entered, edit };
      return { status: 409, page: renderSettingsPage(shown, context) };
    }
    const problems = await saveSettings(options, { ownerId, entered, scores });
    if (problems === undefined) {
      return goTo(context, '/settings', { notice: scores ? 'scored' : 'saved' });
    }
    const shown = { ...stored, settings: entered, problems };
    return { status: 400, page: renderSettingsPage(shown, context) };
  });
}

/** Saves the settings and queues the backlog, or returns what is wrong with the settings. */
async function saveSettings(
  options: SettingsPageOptions,
  change: { ownerId: string; entered: Required<LiveSettings>; scores: boolean },
): Promise<SettingsProblems | undefined> {
  const { store, findWarnings } = options;
  const { ownerId, entered, scores } = change;
  const { evals } = entered;
  const problems: SettingsProblems = {
    ...(evals.length > EVALS_MAX && {
      evals: `Choose at most ${EVALS_MAX} evals. You chose ${evals.length}.`,
    }),
    ...findFieldProblems('LiveSettings', { run_name: entered.run_name }, PROBLEMS),
  };
  if (!isFlawless(problems)) return problems;
  try {
    await changeSettings({ store, findWarnings }, ownerId, entered);
    if (scores) await options.backlog.start(ownerId);
    return undefined;
  } catch (error) {
    // Another page may have deleted an eval in the meantime.
    if (error instanceof InvalidDocumentError) return { evals: error.message };
    if (!(error instanceof RequestError) || error.code !== 'conflict') throw error;
    return { evals: 'Choose at least one eval that scores the conversations.' };
  }
}

/** Loads what the part of the page about the backlog shows. */
async function loadBacklog(
  { store, backlog }: SettingsPageOptions,
  ownerId: string,
): Promise<ShownBacklog> {
  const [settings, waiting] = await Promise.all([
    store.settings.get(ownerId),
    store.conversations.listWaiting(ownerId, 'unscored', { skip: 0, limit: 1 }),
  ]);
  return {
    unscoredConversations: waiting.total,
    hasEvals: settings.evals.length > 0,
    progress: backlog.find(ownerId),
  };
}

async function loadPage(options: SettingsPageOptions, ownerId: string): Promise<SettingsPage> {
  const { store, hasJudge, clock } = options;
  const { live, keys, ...shown } = await awaitValues({
    evals: store.evals.list(ownerId),
    settings: store.settings.get(ownerId),
    backlog: loadBacklog(options, ownerId),
    live: findLiveEvals(store, ownerId),
    keys: store.owners.listKeys(ownerId, { skip: 0, limit: 1 }),
  });
  return {
    ...shown,
    edit: { version: makeVersion(shown.settings) },
    warnings: missingJudgeWarnings(live.evals, hasJudge),
    today: isoDate(clock.nowMs()),
    keyCount: keys.total,
  };
}
