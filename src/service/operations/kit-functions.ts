import type {
  ChatRequest,
  CheckReport,
  EvalDefinition,
  Health,
  Level,
  LoadProfileName,
  LoadReport,
  MessageName,
  Messages,
  Persona,
  Scenario,
} from '../../contract/index.ts';

/**
 * Functions of other packages of the kit that the pages use. The library and the CLI pass them,
 * because the service does not import those packages.
 */
export interface KitFunctions {
  /** Tests the address, TLS, the key, and one request per endpoint of a sandbox, as `doctor` does. */
  diagnose(sandbox: DiagnosedSandbox): Promise<ConnectionReport>;
  /** Returns what a test of an agent sends. */
  planTest(test: AgentTest): Promise<AgentTestPlan>;
  /**
   * Tests an agent as the command of the same name does, and returns the report that its `--json`
   * writes. Everything that the sandbox does is in the report.
   */
  runTest(test: AgentTest, run: AgentTestRun): Promise<CheckReport | LoadReport>;
  /** Returns the requirements that the response to a chat request breaks, without recommendations. */
  judgeReply(
    request: ChatRequest,
    response: { status: number; json: unknown; latencyMs: number },
  ): Promise<ReplyFinding[]>;
  /** Returns what a page says about a requirement of the interface; undefined for an unknown id. */
  findRequirement(id: string): Promise<RequirementFacts | undefined>;
  /** Renders a load report as the HTML page that `load --html` writes. */
  renderLoadReport(report: LoadReport): Promise<string>;
  /** Reads a document in YAML or JSON, and checks it against its message. */
  readDocument<Name extends MessageName>(text: string, name: Name): Promise<ReadDocument<Name>>;
  /** Writes a document as YAML. */
  writeYaml(document: object): Promise<string>;
  /** Returns the sets of scenarios of the kit, with their personas and evals. */
  readStarters(): Promise<Readonly<Record<'general' | 'shop', Starters>>>;
}

/** What a reply breaks. */
export interface ReplyFinding {
  /** The requirement, such as CHAT-024. */
  id: string;
  rule: string;
  /** JSON pointer into the response; empty if the finding concerns all of it. */
  pointer: string;
  expected: string;
  received: string;
}

/** A requirement of the interface. */
export interface RequirementFacts {
  id: string;
  level: Level;
  section: string;
  rule: string;
  reason: string;
}

/** The address of a sandbox, and the key that it expects. */
export interface SandboxAddress {
  url: string;
  voiceUrl: string | undefined;
  apiKey: string | undefined;
}

/** A sandbox to test. */
export interface DiagnosedSandbox extends SandboxAddress {
  /** Time limit of each request. */
  timeoutMs: number;
  /** Interrupts the test. */
  signal: AbortSignal;
}

/** A test of an agent: `check`, with or without calls, or `load` with a profile without calls. */
export type AgentTest =
  | { kind: 'check'; placesCalls: boolean }
  | {
      kind: 'load';
      profile: Extract<LoadProfileName, 'mixed' | 'chat' | 'health'>;
      ratePerSecond: number;
      durationMs: number;
    };

/** What a test sends, at most. */
export interface AgentTestPlan {
  /** What it sends, and how often it reaches a model, in a sentence. */
  sentence: string;
  requests: number;
  modelRequests: number;
}

/** A run of a test. */
export interface AgentTestRun extends SandboxAddress {
  /** Interrupts the test. What it created is deleted. */
  signal: AbortSignal;
  onProgress: (progress: AgentTestProgress) => void;
}

/** How far a test is. */
export interface AgentTestProgress {
  /** What has happened so far, in a few words. */
  state: string;
  /** From 0 to 1. */
  share: number;
  /** An estimate; undefined while too little is measured. */
  leftMs?: number | undefined;
}

/** Whether a sandbox can be reached, with the requests that were sent. */
export interface ConnectionReport {
  target: string;
  ok: boolean;
  /** The one cause that prevents a check, and its fix. */
  blockedBy?: { id: string; message: string; cure: string };
  /** A problem with the voice endpoint of a sandbox that may have none. */
  remark?: string;
  /** The status that `/health` reports; undefined if it reports none. */
  health?: Health['status'];
  /** The version that `/health` reports; undefined if it reports none. */
  agentVersion?: string;
  /** The endpoints of a sandbox that can be checked, and what they returned. */
  endpoints?: {
    area: 'health' | 'chat' | 'users' | 'voice';
    /** The method and the path, such as `DELETE /users/{user_id}`. */
    name: string;
    state: 'responds' | 'fails' | 'absent' | 'not_tried';
    outcome: string;
  }[];
  requests: { request: string; outcome: string; tookMs: number }[];
}

/** A place in a text, counted from 1. */
export interface TextPlace {
  line: number;
  column: number;
}

/** A document that was read from a text, or the first problem of the text. */
export type ReadDocument<Name extends MessageName> =
  | {
      value: Messages[Name];
      problem?: undefined;
      /** Returns the place of a JSON pointer. */
      locate: (pointer: string) => TextPlace;
    }
  | {
      value?: undefined;
      /** A sentence. */
      problem: string;
      place: TextPlace;
    };

/** Scenarios, and the personas and evals that they refer to. */
export interface Starters {
  scenarios: readonly Scenario[];
  personas: readonly Persona[];
  evals: readonly EvalDefinition[];
}
