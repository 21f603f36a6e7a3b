# Runs a Homebrew formula without Homebrew: compares the checksums that it names with the
# archives, installs from the current folder into a prefix, and runs its test there.
#
#   ruby formula.rb FORMULA DIST PREFIX
require 'digest'
require 'fileutils'
require 'pathname'
require 'tmpdir'

formula, dist, prefix = ARGV
PREFIX = Pathname(prefix)

# The folders that a formula installs into, with the method that Homebrew gives them.
class Pathname
  def install(files)
    files = { files => File.basename(files) } unless files.is_a?(Hash)
    files.each do |from, to|
      mkpath
      FileUtils.cp_r from, self / to
    end
  end
end

class Formula
  NAMED = {}
  class << self
    attr_reader :check

    def url(address = nil)
      @url = address
    end

    def sha256(sum)
      NAMED[@url] = sum
    end

    def test(&block)
      @check = block
    end

    %i[on_macos on_linux on_intel on_arm].each { |system| define_method(system) { |&block| block.call } }
    %i[desc homepage version license].each { |field| define_method(field) { |text| raise "#{field} is empty" if text.empty? } }
  end

  { bin: 'bin', man1: 'share/man/man1', pkgshare: 'share/notesd', doc: 'share/doc/notesd', bash_completion: 'etc/bash_completion.d',
    zsh_completion: 'share/zsh/site-functions', fish_completion: 'share/fish/vendor_completions.d' }.each do |name, folder|
    define_method(name) { PREFIX / folder }
  end

  def testpath
    @testpath ||= Pathname(Dir.mktmpdir)
  end

  def shell_output(command)
    text = IO.popen({ 'HOME' => testpath.to_s, 'XDG_STATE_HOME' => nil, 'XDG_CONFIG_HOME' => nil }, command, err: File::NULL, &:read)
    raise "#{command}: #{$?}" unless $?.success?

    text
  end

  def assert_match(want, text)
    raise "#{text.inspect} lacks #{want}" unless text.include?(want)
  end
end

load formula
Formula::NAMED.each do |address, sum|
  archive = File.join(dist, File.basename(address))
  raise "#{archive} has another checksum" unless Digest::SHA256.file(archive).hexdigest == sum
end
raise 'the formula names no archive' if Formula::NAMED.empty?

brewed = Notesd.new
brewed.install
raise 'caveats are empty' if brewed.caveats.empty?

brewed.instance_eval(&Notesd.check)
FileUtils.rm_rf brewed.testpath
