import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// The suite calls its fixtures by name: a tool "test_simple_text", a resource
// "test://static-text". Where notesd has something that does what the fixture
// stands for, this says what. Only requests are changed, never an answer.

// The notes that are made in the vault's copy, for calls that use one up. Their
// text holds what the suite looks for in a resource from a template.
export const scratch = Array.from({ length: 40 }, (_, i) => ({
  path: `Scratch/Note ${i}.md`,
  text: `# Note ${i}\n\nThe parameter was 123.\n`,
}));
let used = 0;
let added = 0;

// A picture that the first of them links to.
export const picture = {
  path: "Scratch/dot.png",
  base64: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==",
};
scratch[0].text += "\n![[dot.png]]\n";

// The prompts, as a user would write them in the prompts folder.
export const promptFolder = "Own Prompts";
export const prompts = {
  test_simple_prompt: "---\ndescription: A prompt without arguments\n---\n\nThis is a simple prompt.\n",
  test_prompt_with_arguments:
    "---\ndescription: Two arguments\narguments:\n  - name: arg1\n    required: true\n  - name: arg2\n    required: true\n---\n\nOne is {{arg1}}, the other {{arg2}}.\n",
  test_prompt_with_embedded_resource:
    "---\ndescription: A note\narguments:\n  - name: resourceUri\n    required: true\n---\n\nProcess this note: {{note resourceUri}}\n",
};

const home = "note:///Home.md";
const resources = {
  "test://static-text": home,
  "test://watched-resource": home,
  "test://example-resource": home,
  "test://static-binary": "note:///Scratch/dot.png",
  "test://template/123/data": "note:///Scratch/Note%200.md",
};

// The vaults of the servers. Only the user writes in the prompts folder, so a new
// prompt is a file that appears there.
export const vaults = new Set();
function addPrompt() {
  for (const vault of vaults) {
    if (existsSync(join(vault, promptFolder))) {
      writeFileSync(join(vault, promptFolder, `new_prompt_${++added}.md`), "A prompt.\n");
    }
  }
}

// Deleting a note asks the user first.
function deleteOne() {
  return { name: "delete_note", arguments: { note: scratch[1 + (used++ % (scratch.length - 1))].path } };
}

const tools = {
  test_simple_text: () => ({ name: "vault_overview", arguments: {} }),
  test_reconnection: () => ({ name: "vault_overview", arguments: {} }),
  test_trigger_prompt_change: () => {
    addPrompt();
    return { name: "vault_overview", arguments: {} };
  },
  test_error_handling: () => ({ name: "read_note", arguments: { note: "No such note anywhere" } }),
  test_elicitation: deleteOne,
  test_input_required_result_elicitation: deleteOne,
};

// standIn returns the message with fixtures replaced, or undefined when there
// are none in it.
export function standIn(message) {
  const params = message?.params;
  if (message?.method === "tools/call" && Object.hasOwn(tools, params?.name)) {
    const changed = { ...params, ...tools[params.name]() };
    const { user_name, ...others } = params.inputResponses ?? {};
    if (user_name !== undefined) {
      changed.inputResponses = { ...others, confirm: user_name };
    }
    return { ...message, params: changed };
  }
  if (Object.hasOwn(resources, params?.uri)) {
    return { ...message, params: { ...params, uri: resources[params.uri] } };
  }
  if (Object.hasOwn(resources, params?.arguments?.resourceUri)) {
    return { ...message, params: { ...params, arguments: { resourceUri: resources[params.arguments.resourceUri] } } };
  }
}
