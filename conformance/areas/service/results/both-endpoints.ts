/** Rules of both results endpoints: each is written once, and gives one requirement per endpoint. */
import type { When } from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest } from '../../../engine/mutants/mutant.ts';
import type {
  MutantEntry,
  RequirementEntries,
  RequirementEntry,
  RequirementId,
} from '../../../engine/requirement.ts';
import {
  kindOf,
  type ResultsEndpoint,
  type ResultsObject,
  type SessionKind,
} from '../results-api.ts';
import { fastClock, onPages, onSessions } from '../transforms.ts';

type ResultsEdit = (object: ResultsObject, request: ProxyRequest) => void;

/** The endpoint of a rule, and what the rule writes differently for each endpoint. */
export interface EndpointRules {
  endpoint: ResultsEndpoint;
  kind: SessionKind;
  /** Returns the first value for production, the second for simulations. */
  either: <const Production, const Simulations>(
    production: Production,
    simulations: Simulations,
  ) => Production | Simulations;
  /** Puts the endpoint before the names of mutants. They wait for results, so their clock is fast. */
  forEndpoint: (mutants: Readonly<Record<string, MutantEntry>>) => Record<string, MutantEntry>;
  /** A mutant that edits each page. */
  editPages: (description: string, edit: ResultsEdit, when?: When) => MutantEntry;
  /** A mutant that edits each session on the pages. */
  editSessions: (description: string, edit: ResultsEdit, when?: When) => MutantEntry;
}

/** A mutant that edits production sessions. The run waits for their results. */
export const editProductionSessions = (
  description: string,
  edit: ResultsEdit,
  when?: When,
): MutantEntry => ({
  description,
  transform: onSessions('production', edit, when),
  ...fastClock,
});

/** A mutant that edits simulation sessions. */
export const editSimulationSessions = (
  description: string,
  edit: ResultsEdit,
  when?: When,
): MutantEntry => ({
  description,
  transform: onSessions('simulations', edit, when),
});

/** Writes a rule of both endpoints: the requirement of each, with its own id. */
export function both(
  production: RequirementId,
  simulations: RequirementId,
  define: (rules: EndpointRules) => RequirementEntry,
): RequirementEntries {
  return {
    [production]: define(createRules('production')),
    [simulations]: define(createRules('simulations')),
  };
}

function createRules(endpoint: ResultsEndpoint): EndpointRules {
  const isProduction = endpoint === 'production';
  return {
    endpoint,
    kind: kindOf(endpoint),
    either: (production, simulations) => (isProduction ? production : simulations),
    forEndpoint: (mutants) =>
      Object.fromEntries(
        Object.entries(mutants).map(([name, mutant]) => [
          `${endpoint}-${name}`,
          // An intrusive run does not wait for results.
          mutant.intrusive ? mutant : { ...mutant, ...fastClock },
        ]),
      ),
    editPages: (description, edit, when) => ({
      description,
      transform: onPages(endpoint, edit, when),
    }),
    editSessions: (description, edit, when) => ({
      description,
      transform: onSessions(endpoint, edit, when),
    }),
  };
}
