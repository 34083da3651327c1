import type { FastifyInstance } from 'fastify';
import { isMessage, schemas, type LiveSettings } from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import { InvalidDocumentError, RequestError } from '../../domain/errors.ts';
import { findLiveEvals } from '../../domain/evals.ts';
import { missingJudgeWarnings } from '../../domain/missing-models.ts';
import type { Backlog } from '../../operations/backlog.ts';
import { changeSettings, type FindSettingsWarnings } from '../../operations/settings.ts';
import { readText, redirect } from '../frame/forms.ts';
import { sendPage } from '../frame/page-frame.ts';
import type { PageOptions } from '../frame/viewer.ts';
import { BACKLOG_LIVE_PATH, renderBacklog, type ShownBacklog } from './backlog.ts';
import { renderSettingsPage, type SettingsPage, type SettingsProblems } from './settings-page.ts';

/** What the settings page needs besides the options of all pages. */
export interface SettingsPageOptions {
  backlog: Backlog;
  findWarnings: FindSettingsWarnings;
  /** Whether an LLM judge is configured. */
  hasJudge: boolean;
}

const EVALS_MAX = schemas.LiveSettings.properties.evals.maxItems;

/** `/settings`: the settings of live traces (spec 2.2), and the backlog (spec 3.1). */
export function addSettingsRoutes(
  app: FastifyInstance,
  options: PageOptions & SettingsPageOptions,
): void {
  const { findViewer, findEditor, live } = options;
  app.get(BACKLOG_LIVE_PATH, async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    return live.send(request, reply, async () =>
      renderBacklog(await loadBacklog(options, ownerId), context),
    );
  });
  app.get('/settings', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    return sendPage(reply, renderSettingsPage(await loadPage(options, ownerId), context));
  });
  app.post('/settings', async (request, reply) => {
    const { ownerId, context, form } = await findEditor(request);
    const entered = {
      evals: form.getAll('evals').filter((id) => typeof id === 'string'),
      run_name: readText(form, 'run_name'),
    };
    const scores = readText(form, 'then') === 'score';
    const problems = await saveSettings(options, { ownerId, entered, scores });
    if (problems === undefined) {
      return redirect(reply, context, '/settings', { notice: scores ? 'scored' : 'saved' });
    }
    const page = {
      ...(await loadPage(options, ownerId)),
      settings: entered,
      problems,
    };
    return sendPage(reply.code(400), renderSettingsPage(page, context));
  });
}

/** Saves the settings and queues the backlog, or returns what is wrong with the settings. */
async function saveSettings(
  options: PageOptions & SettingsPageOptions,
  change: { ownerId: string; entered: Required<LiveSettings>; scores: boolean },
): Promise<SettingsProblems | undefined> {
  const { store, findWarnings } = options;
  const { ownerId, entered, scores } = change;
  const { evals } = entered;
  const problems: SettingsProblems = {
    ...(evals.length > EVALS_MAX && {
      evals: `Choose at most ${EVALS_MAX} evals. You chose ${evals.length}.`,
    }),
    ...(!isMessage('LiveSettings', { run_name: entered.run_name }) && {
      run_name: 'The base name must have 1 to 200 characters on one line.',
    }),
  };
  if (Object.keys(problems).length > 0) return problems;
  try {
    await changeSettings({ evalStore: store.evals, findWarnings }, ownerId, entered);
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
  { store, backlog }: PageOptions & SettingsPageOptions,
  ownerId: string,
): Promise<ShownBacklog> {
  const [settings, waiting] = await Promise.all([
    store.evals.getSettings(ownerId),
    store.conversations.listWaiting(ownerId, 'unscored', { skip: 0, limit: 1 }),
  ]);
  return {
    unscoredConversations: waiting.total,
    hasEvals: settings.evals.length > 0,
    progress: backlog.find(ownerId),
  };
}

async function loadPage(
  options: PageOptions & SettingsPageOptions,
  ownerId: string,
): Promise<SettingsPage> {
  const { store, hasJudge, clock } = options;
  const [evals, settings, live, backlog, keys] = await Promise.all([
    store.evals.list(ownerId),
    store.evals.getSettings(ownerId),
    findLiveEvals(store.evals, ownerId),
    loadBacklog(options, ownerId),
    store.owners.listKeys(ownerId, { skip: 0, limit: 1 }),
  ]);
  return {
    evals,
    settings,
    backlog,
    warnings: missingJudgeWarnings(live.evals, hasJudge),
    today: isoTime(clock.nowMs()).slice(0, 10),
    keyCount: keys.total,
  };
}
