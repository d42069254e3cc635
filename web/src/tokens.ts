/* SPDX-License-Identifier: GPL-2.0-or-later */
// Divides source lines into comments, texts, numbers and keywords, for their colours. It knows
// the forms that most languages share, not their grammars.

export type TokenKind = "" | "comment" | "string" | "number" | "keyword" | "directive";
export type Token = [kind: TokenKind, text: string];

const WORDS = new Set(("abstract as asm async auto await bool boolean break byte case catch char class " +
  "const constexpr continue crate decltype def default defer del delete do double elif else enum except " +
  "explicit export extends extern false final finally float fn for foreach from func function go goto if " +
  "impl implements import in inline int interface is lambda let long loop map match mod move mut mutable " +
  "namespace new nil noexcept None not null nullptr operator or package pass private protected pub public " +
  "raise range register restrict return select self short signed sizeof static static_cast struct super " +
  "switch template this throw throws trait true True False try type typedef typename union unsigned unsafe " +
  "use using var virtual void volatile where while with yield").split(" "));
const HASH_COMMENTS = /python|shell|perl|ruby|tcl|make|yaml|^r$|awk/i;
const PATTERN = new RegExp([
  /\/\*[^]*?(?:\*\/|$)/, /\/\/.*$/, /"(?:\\.|[^"\\])*"?/, /'(?:\\.|[^'\\]){0,12}'/,
  /\b(?:0[xX][\da-fA-F_']+|\d[\d_']*(?:\.\d+)?(?:[eE][+-]?\d+)?)[a-zA-Z0-9]*\b/, /[A-Za-z_]\w*/,
  /#.*$/].map((part) => `(${part.source})`).join("|"), "g");

export class Tokenizer {
  private readonly hashComments: boolean;

  constructor(language: string | undefined, file: string | undefined) {
    this.hashComments = HASH_COMMENTS.test(language ?? "") || /\.(py|sh|pl|rb|tcl)$/.test(file ?? "");
  }

  // `inside`: whether the line begins in a comment. Returns the tokens, and whether it ends in one.
  line(text: string, inside: boolean): { tokens: Token[]; inside: boolean } {
    const tokens: Token[] = [];
    let at = 0;
    if (inside) {
      const end = text.indexOf("*/");
      if (end < 0)
        return { tokens: [["comment", text]], inside: true };
      at = end + 2;
      tokens.push(["comment", text.slice(0, at)]);
    }
    PATTERN.lastIndex = at;
    let open = false;
    for (let m = PATTERN.exec(text); m; m = PATTERN.exec(text)) {
      const kind = this.kindOf(m, text);
      if (kind === null)
        continue;
      if (m.index > at)
        tokens.push(["", text.slice(at, m.index)]);
      tokens.push([kind, m[0]]);
      at = m.index + m[0].length;
      open = m[1] !== undefined && !(m[0].length > 3 && m[0].endsWith("*/"));
    }
    if (at < text.length)
      tokens.push(["", text.slice(at)]);
    return { tokens, inside: open };
  }

  private kindOf(m: RegExpExecArray, text: string): TokenKind | null {
    const [, block, line, string, char, number, word] = m;
    if (block !== undefined || line !== undefined)
      return "comment";
    if (string !== undefined || char !== undefined)
      return "string";
    if (number !== undefined)
      return "number";
    if (word !== undefined)
      return WORDS.has(word) ? "keyword" : "";
    if (this.hashComments)
      return "comment";
    return text.slice(0, m.index).trim() ? null : "directive";
  }
}

// Marks the mnemonic, registers, numbers and comments of an instruction.
export function instructionTokens(text: string): Token[] {
  const tokens: Token[] = [], comment = text.search(/\s[#;]\s/);
  const code = comment < 0 ? text : text.slice(0, comment), m = /^(\s*(?:(?:lock|rep\w*|bnd|notrack)\s+)?)(\S+)/.exec(code);
  let at = 0;
  if (m) {
    if (m[1])
      tokens.push(["", m[1]]);
    tokens.push(["keyword", m[2]]);
    at = m[0].length;
  }
  const operands = /(%?\b[re]?[a-d]x\b|%[a-z]\w*)|(\$?-?0x[\da-f]+|\$-?\d+)|(<[^>]*>)/gi;
  operands.lastIndex = at;
  for (let o = operands.exec(code); o; o = operands.exec(code)) {
    if (o.index > at)
      tokens.push(["", code.slice(at, o.index)]);
    tokens.push([o[1] !== undefined ? "directive" : o[2] !== undefined ? "number" : "string", o[0]]);
    at = o.index + o[0].length;
  }
  if (at < code.length)
    tokens.push(["", code.slice(at)]);
  if (comment >= 0)
    tokens.push(["comment", text.slice(comment)]);
  return tokens;
}
