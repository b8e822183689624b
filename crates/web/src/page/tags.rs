//! Elements of HTML that reading distinguishes, and their properties.

/// Element by its name; all names that reading treats alike are `Other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[rustfmt::skip]
pub(super) enum Tag {
    Other, A, Address, Area, Article, Aside, Base, Blockquote, Body, Br, Button, Caption, Center, Code, Dd, Details,
    Dialog, Div, Dl, Dt, Fieldset, Figcaption, Figure, Footer, Form, Frame, H1, H2, H3, H4, H5, H6, Header, Hr, Html,
    Iframe, Img, Label, Legend, Li, Link, Main, Menu, Meta, Nav, Noembed, Noframes, Noscript, Object, Ol, Optgroup,
    Option, P, Pre, Rb, Rp, Rt, Rtc, Ruby, Script, Search, Section, Select, Span, Style, Summary, Svg, Table, Tbody, Td, Template,
    Textarea, Tfoot, Th, Thead, Time, Title, Tr, Ul, Xmp,
}

/// Number of tags.
pub(super) const TAGS_COUNT: usize = Tag::Xmp as usize + 1;

/// Returns the tag of a name in any case.
#[rustfmt::skip]
pub(super) fn tag(name: &[u8]) -> Tag {
    let mut lower = [0u8; 10];
    let Some(lower) = lower.get_mut(..name.len()) else { return Tag::Other };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    use Tag::*;
    match &*lower {
        b"a" => A, b"address" => Address, b"area" => Area, b"article" => Article, b"aside" => Aside, b"base" => Base,
        b"blockquote" => Blockquote, b"body" => Body, b"br" => Br, b"button" => Button, b"caption" => Caption,
        b"center" => Center, b"code" => Code, b"dd" => Dd, b"details" => Details, b"dialog" => Dialog,
        b"div" => Div, b"dl" => Dl, b"dt" => Dt, b"fieldset" => Fieldset, b"figcaption" => Figcaption,
        b"figure" => Figure, b"footer" => Footer, b"form" => Form, b"frame" => Frame, b"h1" => H1, b"h2" => H2, b"h3" => H3,
        b"h4" => H4, b"h5" => H5, b"h6" => H6, b"header" => Header, b"hr" => Hr, b"html" => Html,
        b"iframe" => Iframe, b"img" => Img, b"label" => Label, b"legend" => Legend, b"li" => Li, b"link" => Link,
        b"main" => Main, b"menu" => Menu, b"meta" => Meta, b"nav" => Nav, b"noembed" => Noembed,
        b"noframes" => Noframes, b"noscript" => Noscript, b"object" => Object, b"ol" => Ol,
        b"optgroup" => Optgroup, b"option" => Option, b"p" => P, b"pre" | b"listing" => Pre,
        b"rb" => Rb, b"rp" => Rp, b"rt" => Rt, b"rtc" => Rtc, b"ruby" => Ruby, b"script" => Script,
        b"search" => Search, b"section" => Section, b"select" => Select, b"span" => Span, b"style" => Style,
        b"summary" => Summary, b"svg" => Svg, b"table" => Table, b"tbody" => Tbody, b"td" => Td,
        b"template" => Template, b"textarea" => Textarea, b"tfoot" => Tfoot, b"th" => Th, b"thead" => Thead,
        b"time" => Time, b"title" => Title, b"tr" => Tr, b"ul" => Ul, b"xmp" | b"plaintext" => Xmp,
        _ => Other,
    }
}

impl Tag {
    /// Returns whether the element breaks lines: its text is in blocks of its own.
    pub(super) fn is_block(self) -> bool {
        use Tag::*;
        !matches!(
            self,
            Other
                | A
                | Area
                | Base
                | Br
                | Button
                | Code
                | Frame
                | Iframe
                | Img
                | Label
                | Link
                | Meta
                | Noembed
                | Noframes
                | Noscript
                | Object
                | Rb
                | Rp
                | Rt
                | Rtc
                | Ruby
                | Script
                | Span
                | Style
                | Svg
                | Template
                | Textarea
                | Time
                | Title
                | Xmp
        )
    }

    /// Returns whether the element is kept on the stack of open elements.
    pub(super) fn is_stacked(self) -> bool {
        use Tag::*;
        self.is_block() && !matches!(self, Hr | Html | Body)
            || matches!(
                self,
                Span | Button | Noframes | Noscript | Template | Object | Svg | Label | Time
            )
    }

    /// Returns whether its content is text up to its own end tag.
    pub(super) fn is_raw_text(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Script | Style | Textarea | Title | Iframe | Noembed | Xmp
        )
    }

    /// Heading level 1 to 6.
    pub(super) fn heading_level(self) -> std::option::Option<u8> {
        use Tag::*;
        match self {
            H1 | H2 | H3 | H4 | H5 | H6 => Some(self as u8 - H1 as u8 + 1),
            _ => None,
        }
    }
}
