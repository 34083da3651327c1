/** The scripts that complete command lines in a shell. They ask sandbox-kit for the words. */

/** The option that the scripts pass. Scripts that users installed years ago use it, too. */
export const COMPLETION_OPTION = '--get-yargs-completions';

/** The shells that have a script. */
export const completionShells = ['bash', 'zsh'] as const;
type CompletionShell = (typeof completionShells)[number];

/** Returns the script for a shell. */
export const completionScript = (shell: CompletionShell): string => scripts[shell];

const scripts: Readonly<Record<CompletionShell, string>> = {
  bash: `# Completion of sandbox-kit for bash: sandbox-kit completion bash >> ~/.bashrc
_sandbox_kit_completion() {
  local words
  mapfile -t words < <(sandbox-kit ${COMPLETION_OPTION} "\${COMP_WORDS[@]}")
  mapfile -t COMPREPLY < <(compgen -W "\${words[*]}" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o bashdefault -o default -F _sandbox_kit_completion sandbox-kit
`,
  // zsh wants a description after each word; COMP_LINE asks for it.
  zsh: `#compdef sandbox-kit
# Completion of sandbox-kit for zsh: sandbox-kit completion zsh >> ~/.zshrc
_sandbox_kit_completion() {
  local -a lines
  lines=("\${(@f)$(COMP_LINE="$BUFFER" sandbox-kit ${COMPLETION_OPTION} "\${words[@]}")}")
  if [[ -n "\${lines[1]}" ]]; then
    _describe 'values' lines
  else
    _default
  fi
}
if [[ "\${zsh_eval_context[-1]}" == loadautofunc ]]; then
  _sandbox_kit_completion "$@"
else
  compdef _sandbox_kit_completion sandbox-kit
fi
`,
};
