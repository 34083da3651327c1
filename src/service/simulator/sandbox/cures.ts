/** What people can do about a sandbox that does not let a session begin, in the words of where they read it. */
export interface SandboxCures {
  health: string;
  refusedKey: string;
  missingKey: string;
}

/** For people at a terminal. */
export const COMMAND_CURES: SandboxCures = {
  health: 'To check the response, run sandbox-kit check URL --area health.',
  refusedKey: 'Check SANDBOX_KIT_API_KEY.',
  missingKey: 'Set SANDBOX_KIT_API_KEY.',
};

/** For people who read the pages of the service. */
export const PAGE_CURES: SandboxCures = {
  health: 'To see what is wrong with the response, run a check from the page of the agent.',
  refusedKey: 'Enter the API key that it expects in the settings of the agent.',
  missingKey: 'Enter its API key in the settings of the agent.',
};
