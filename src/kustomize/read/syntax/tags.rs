//! Tags and directives.

use super::cursor::Mark;
use super::scanner::{Scanner, TokenKind, is_word};
use crate::yaml::tree::YamlError;

impl<'s> Scanner<'s> {
    pub(super) fn tag(&mut self) -> Result<(), YamlError> {
        let mark = self.start_word()?;
        let (handle, suffix) = if self.cursor.byte(1) == b'<' {
            self.cursor.skip_ascii(2);
            let suffix = self.tag_uri("", mark)?;
            if suffix.is_empty() || self.cursor.byte(0) != b'>' {
                return Err(mark.error("the tag is not closed by `>`"));
            }
            self.cursor.skip_ascii(1);
            ("", suffix)
        } else {
            self.short_tag(mark)?
        };
        if !self.cursor.is_separated(0) {
            return Err(mark.error("a blank must follow the tag"));
        }
        self.push(TokenKind::Tag { handle, suffix }, mark);
        Ok(())
    }

    /// `!suffix`, `!!suffix`, `!handle!suffix` or `!`.
    fn short_tag(&mut self, mark: Mark) -> Result<(&'s str, String), YamlError> {
        let handle = self.tag_handle();
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.tag_uri("", mark)?;
            if suffix.is_empty() {
                return Err(mark.error("the tag has no name"));
            }
            return Ok((handle, suffix));
        }
        let suffix = self.tag_uri(&handle[1..], mark)?;
        Ok(if suffix.is_empty() { ("", "!".to_owned()) } else { ("!", suffix) })
    }

    fn tag_handle(&mut self) -> &'s str {
        let from = self.cursor.at;
        self.cursor.skip_ascii(1);
        while is_word(self.cursor.byte(0)) {
            self.cursor.skip_ascii(1);
        }
        if self.cursor.byte(0) == b'!' {
            self.cursor.skip_ascii(1);
        }
        &self.cursor.text[from..self.cursor.at]
    }

    fn tag_uri(&mut self, head: &str, mark: Mark) -> Result<String, YamlError> {
        let mut bytes = head.as_bytes().to_vec();
        loop {
            match self.cursor.byte(0) {
                b'%' => {
                    let digits = self.cursor.text.get(self.cursor.at + 1..self.cursor.at + 3);
                    let octet = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                    bytes.push(octet.ok_or_else(|| mark.error("the tag has a wrong escape"))?);
                    self.cursor.skip_ascii(3);
                }
                byte if is_word(byte) || b";/?:@&=+$,.!~*'()[]".contains(&byte) => {
                    bytes.push(byte);
                    self.cursor.skip_ascii(1);
                }
                _ => break,
            }
        }
        String::from_utf8(bytes).map_err(|_| mark.error("the escapes of the tag are no UTF-8"))
    }

    /// `%YAML` or `%TAG`.
    pub(super) fn directive(&mut self) -> Result<(), YamlError> {
        self.leave_blocks()?;
        let mark = self.cursor.mark;
        self.cursor.skip_ascii(1);
        let from = self.cursor.at;
        while is_word(self.cursor.byte(0)) {
            self.cursor.skip_ascii(1);
        }
        let name = &self.cursor.text[from..self.cursor.at];
        let kind = match name {
            "YAML" if self.cursor.is_separated(0) => self.version(mark)?,
            "TAG" if self.cursor.is_separated(0) => self.tag_directive(mark)?,
            _ => return Err(mark.error("an unknown directive")),
        };
        self.cursor.skip_blanks();
        if self.cursor.byte(0) == b'#' {
            self.cursor.take_line();
        }
        if !self.cursor.is_break_or_end(0) {
            return Err(mark.error("behind a directive only a comment may follow"));
        }
        self.cursor.take_break();
        self.push(kind, mark);
        Ok(())
    }

    fn version(&mut self, mark: Mark) -> Result<TokenKind<'s>, YamlError> {
        self.cursor.skip_blanks();
        let major = self.version_number(mark)?;
        if self.cursor.byte(0) != b'.' {
            return Err(mark.error("the version of YAML is not written as 1.1"));
        }
        self.cursor.skip_ascii(1);
        Ok(TokenKind::VersionDirective { major, minor: self.version_number(mark)? })
    }

    fn version_number(&mut self, mark: Mark) -> Result<u32, YamlError> {
        let from = self.cursor.at;
        while self.cursor.byte(0).is_ascii_digit() {
            self.cursor.skip_ascii(1);
        }
        let digits = &self.cursor.text[from..self.cursor.at];
        let number = Some(digits).filter(|digits| digits.len() <= 2);
        number
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| mark.error("the version of YAML is not written as 1.1"))
    }

    fn tag_directive(&mut self, mark: Mark) -> Result<TokenKind<'s>, YamlError> {
        let refused = |_: ()| mark.error("a tag directive is `%TAG !handle! prefix`");
        self.cursor.skip_blanks();
        if self.cursor.byte(0) != b'!' {
            return Err(refused(()));
        }
        let handle = self.tag_handle();
        if (handle != "!" && !handle.ends_with('!')) || !self.cursor.is_blank() {
            return Err(refused(()));
        }
        self.cursor.skip_blanks();
        let prefix = self.tag_uri("", mark)?;
        if prefix.is_empty() || !self.cursor.is_separated(0) {
            return Err(refused(()));
        }
        Ok(TokenKind::TagDirective { handle, prefix })
    }
}
